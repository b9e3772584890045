#include "learn/weight_trimming.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "base/random.h"

namespace arboleda {

TEST_CASE("the lightest rows sit out, up to their share of the weight") {
  RandomStream random(4, Purpose::row_sample, 0, 0);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::size_t n = 1 + random.below(60);
    std::vector<double> weights(n);
    for (double& w : weights) w = (1 + random.below(repeat % 2 == 0 ? 5 : 1000)) / 8.0;
    std::vector<RowIndex> rows;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == 0 || random.below(5) > 0) rows.push_back(static_cast<RowIndex>(i));
    }
    const double share = random.below(100) / 100.0;
    std::vector<std::uint8_t> marked;
    mark_light_rows(weights, rows, share, marked);

    // By the definition: every weight is tried.
    double whole = 0.0;
    for (const RowIndex row : rows) whole += weights[row];
    double least = 0.0;
    for (const RowIndex candidate : rows) {
      double below = 0.0;
      for (const RowIndex row : rows) below += weights[row] < weights[candidate] ? weights[row] : 0;
      if (below <= share * whole) least = std::max(least, weights[candidate]);
    }
    REQUIRE(marked.size() == n);
    for (std::size_t i = 0; i < n; ++i) {
      const bool takes_part = std::find(rows.begin(), rows.end(), i) != rows.end();
      CHECK(marked[i] == (takes_part && weights[i] < least));
    }
  }
}

}  // namespace arboleda
