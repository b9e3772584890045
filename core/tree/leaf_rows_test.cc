#include "tree/leaf_rows.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// About a share of the table's rows, each in one of some leaves; the second leaf has none.
LeafRows make_leaves(std::size_t n_table, double share, std::uint32_t n_leaves) {
  RandomStream random(7, Purpose::feature_subset, 0, 0);
  std::vector<std::vector<RowIndex>> of_leaf(n_leaves);
  for (std::size_t row = 0; row < n_table; ++row) {
    std::uint32_t leaf = random.below(n_leaves);
    if (leaf == 1) leaf = 0;
    if (random.uniform() < share) of_leaf[leaf].push_back(static_cast<RowIndex>(row));
  }
  LeafRows leaves;
  for (std::uint32_t i = 0; i < n_leaves; ++i) {
    const std::size_t begin = leaves.rows.size();
    leaves.rows.insert(leaves.rows.end(), of_leaf[i].begin(), of_leaf[i].end());
    leaves.leaves.push_back({static_cast<NodeIndex>(i), begin, leaves.rows.size()});
  }
  return leaves;
}

}  // namespace

TEST_CASE("blocks of rows pay for few leaves of many rows") {
  const LeafRows few = make_leaves(50'000, 0.9, 5);
  CHECK(count_row_blocks(few, 1'000) == (few.rows.size() + 999) / 1'000);
  CHECK(count_row_blocks(few, few.rows.size()) == 1);
  CHECK(count_row_blocks(make_leaves(50'000, 0.9, 5'000), 1'000) == 1);
  CHECK(count_row_blocks(make_leaves(50'000, 0.05, 5), 1'000) == 1);
  CHECK(count_row_blocks(LeafRows(), 1'000) == 1);
}

TEST_CASE("every row of every leaf is met once, in blocks or leaf after leaf") {
  const LeafRows leaves = make_leaves(30'000, 0.7, 40);
  for (const std::size_t n_blocks : {1u, 2u, 7u, 300u}) {
    for (const int n_threads : {1, 4}) {
      std::vector<int> leaf_of_row(30'000, -1);
      std::atomic<std::size_t> n_fetched = 0;
      std::atomic<bool> is_apart = true;
      for_each_leaf_by_blocks(
          leaves, n_blocks, n_threads,
          [&](std::size_t first, std::size_t last, int) { n_fetched += last - first; },
          [&](std::size_t leaf, std::size_t begin, std::size_t end, int worker) {
            if (begin >= end || worker < 0 || worker >= n_threads) is_apart = false;
            for (std::size_t i = begin; i < end; ++i) {
              int& found = leaf_of_row[leaves.rows[i]];
              if (found != -1) is_apart = false;
              found = static_cast<int>(leaf);
            }
          });
      CHECK(is_apart);
      CHECK(n_fetched == (n_blocks == 1 ? 0 : leaves.end_of_rows()));
      for (std::size_t leaf = 0; leaf < leaves.leaves.size(); ++leaf) {
        for (std::size_t i = leaves.leaves[leaf].begin; i < leaves.leaves[leaf].end; ++i) {
          REQUIRE(leaf_of_row[leaves.rows[i]] == static_cast<int>(leaf));
        }
      }
    }
  }
}

TEST_CASE("sums of leaves are those of their rows") {
  RandomStream random(8, Purpose::feature_subset, 0, 0);
  std::vector<double> values(60'000);
  for (double& x : values) x = random.uniform() - 0.3;
  const SumScale scale(magnitude_of(values));
  for (const std::uint32_t n_leaves : {1u, 9u, 4'000u}) {
    for (const int n_threads : {1, 3}) {
      const LeafRows leaves = make_leaves(values.size(), 0.8, n_leaves);
      const auto sums = sum_leaves(values, scale, leaves, Context(n_threads));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        ExactSum expected;
        for (std::size_t at = leaves.leaves[i].begin; at < leaves.leaves[i].end; ++at) {
          expected.add(scale, values[leaves.rows[at]]);
        }
        REQUIRE(sums[i].units() == expected.units());
      }
    }
  }
}

}  // namespace arboleda
