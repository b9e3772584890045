#include "tree/prune_forest.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tree/prune.h"
#include "tree/random_tree.h"

namespace arboleda {

namespace {

Forest some_forest(bool keep_rows) {
  Forest forest{1, 2, Measure::gini};
  if (keep_rows) forest.n_training_rows = 64;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    std::vector<RowIndex> rows;
    for (RowIndex i = 0; keep_rows && i < 64; ++i) rows.push_back(63 - i);
    forest.trees.push_back(compact(random_tree(seed, 5, 2).arrays(), forest.measure, rows));
  }
  return forest;
}

}  // namespace

TEST_CASE("a pruned forest has the pruned trees") {
  const Forest forest = some_forest(false);
  for (const double alpha : {0.0, 1e-3, 1e-2, 10.0}) {
    const Forest smaller = pruned(forest, alpha);
    check_forest(smaller);
    REQUIRE(smaller.trees.size() == forest.trees.size());
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      const Tree expected = pruned(tree_of(forest, t), alpha);
      const Tree found = tree_of(smaller, t);
      CHECK(found.arrays().right == expected.arrays().right);
      CHECK(found.arrays().threshold == expected.arrays().threshold);
      CHECK(found.arrays().n_node_samples == expected.arrays().n_node_samples);
      if (alpha == 10.0) CHECK(found.n_nodes() == 1);
    }
  }
}

TEST_CASE("a node that becomes a leaf has the rows of the leaves below it") {
  const Forest forest = some_forest(true);
  const Forest smaller = pruned(forest, 10.0);
  check_forest(smaller);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    CHECK(smaller.trees[t].row == forest.trees[t].row);
    CHECK(leaf_begins(smaller.trees[t]) == std::vector<std::uint32_t>{0, 64});
  }
}

}  // namespace arboleda
