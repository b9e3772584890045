#include "simd/ranking_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

TEST_CASE("pairs of a ranking have the same bits at every level") {
  RandomStream random(1, Purpose::row_sample, 0, 0);
  for (std::size_t n = 2; n < 40; ++n) {
    for (const bool is_by_ndcg : {true, false}) {
      std::vector<double> first, discount, score, strength, gain;
      for (std::size_t i = 0; i < n + kRankingPadding; ++i) {
        discount.push_back(1.0 / std::log2(2.0 + static_cast<double>(i)));
        score.push_back(4.0 - 0.1 * static_cast<double>(i) - 0.05 * random.uniform());
        strength.push_back(std::exp(score.back()));
        gain.push_back(std::exp2(random.below(4)) - 1.0);
      }
      for (const Kernels* level : all_kernels()) {
        std::vector<double> out(2 * (n + kRankingPadding));
        const RankedRows rows{n,           score.data(),    strength.data(),
                              gain.data(), discount.data(), is_by_ndcg,
                              0.3,         out.data(),      out.data() + n + kRankingPadding};
        double size = 0.0;
        for (std::size_t i = 0; i + 1 < n; ++i) size += level->ranking.add_pairs(rows, i);
        out.push_back(size);
        for (std::size_t k = 0; k < kRankingPadding; ++k) CHECK(out[n + k] == 0.0);
        if (first.empty()) first = out;
        CHECK(out == first);
      }
    }
  }
}

}  // namespace arboleda
