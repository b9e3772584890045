#include "tree/column_subset.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"
#include "tree/random_tree.h"

namespace arboleda {

namespace {

// Tests columns 1, 4 and 7 of nine.
Tree tree_on_three_of_nine() {
  TreeArrays arrays = random_tree(3, 5).arrays();
  arrays.n_features = 9;
  FeatureIndex next = 0;
  for (FeatureIndex& feature : arrays.feature) {
    if (feature >= 0) feature = 1 + 3 * (next++ % 3);
  }
  CHECK(next > 3);
  return Tree(arrays);
}

}  // namespace

TEST_CASE("a tree on some columns refers to them by their place among these") {
  const Tree tree = tree_on_three_of_nine();
  const std::vector<FeatureIndex> columns = {1, 3, 4, 7};
  const Tree subset = on_columns(tree, columns);
  const TreeArrays& part = subset.arrays();
  const TreeArrays& whole = tree.arrays();
  CHECK(part.n_features == 4);
  CHECK(part.threshold == whole.threshold);
  CHECK(part.value == whole.value);
  CHECK(part.right == whole.right);
  for (std::size_t i = 0; i < whole.feature.size(); ++i) {
    const FeatureIndex place = part.feature[i];
    CHECK((place < 0 ? -1 : columns[static_cast<std::size_t>(place)]) == whole.feature[i]);
  }
}

TEST_CASE("columns of a subset ascend, are the tree's, and include all that it tests") {
  const Tree tree = tree_on_three_of_nine();
  for (const std::vector<FeatureIndex>& columns : {std::vector<FeatureIndex>{},
                                                   {1, 4},
                                                   {0, 2, 3},
                                                   {1, 1, 4, 7},
                                                   {4, 1, 7},
                                                   {-1, 1, 4, 7},
                                                   {1, 4, 7, 9}}) {
    CHECK_THROWS_AS(on_columns(tree, columns), Error);
  }
}

}  // namespace arboleda
