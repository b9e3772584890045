#include "criterion/rank_sums.h"

#include <doctest/doctest.h>

#include "base/random.h"

namespace arboleda {

TEST_CASE("the median's place is that of a running sum, however the rows came") {
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  for (std::size_t n = 1; n < 40; ++n) {
    std::vector<WeightAndSum<std::int64_t>> of_rank(n);
    RankSums<std::int64_t> one_by_one, at_once;
    one_by_one.reset(n + 5);
    std::int64_t whole = 0;
    for (std::size_t row = 0; row < 2 * n; ++row) {
      const std::size_t rank = random.below(static_cast<std::uint32_t>(n));
      const std::int64_t w = random.below(4) + 1;
      const WeightAndSum<std::int64_t> entry{w * static_cast<std::int64_t>(rank), w};
      of_rank[rank] += entry;
      one_by_one.add(rank, entry, n);
      whole += w;
    }
    at_once.build(of_rank);
    std::size_t rank = 0;
    WeightAndSum<std::int64_t> below;
    while (2 * (below.weight + of_rank[rank].weight) < whole) below += of_rank[rank++];
    for (const auto* tree : {&one_by_one, &at_once}) {
      const auto place =
          find_median<std::int64_t>(n, whole, [&](std::size_t i) { return tree->node(i); });
      CHECK(place.rank == rank);
      CHECK(place.below.weight == below.weight);
      CHECK(place.below.sum == below.sum);
    }
  }
}

}  // namespace arboleda
