#include "tree/forest.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "tree/random_tree.h"

namespace arboleda {

namespace {

// The training rows of random_tree: as many as its root holds.
std::vector<RowIndex> some_rows(std::uint32_t n) {
  std::vector<RowIndex> rows;
  for (std::uint32_t i = 0; i < n; ++i) rows.push_back(n - 1 - i);
  return rows;
}

Forest some_forest(int n_classes, bool keep_rows) {
  Forest forest{1, std::max(1, n_classes), n_classes > 0 ? Measure::gini : Measure::squared_error};
  if (keep_rows) forest.n_training_rows = 64;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const TreeArrays tree = random_tree(seed, 5, n_classes).arrays();
    forest.trees.push_back(
        compact(tree, forest.measure, keep_rows ? some_rows(64) : std::vector<RowIndex>()));
  }
  return forest;
}

}  // namespace

TEST_CASE("a forest keeps the tests and the leaf statistics of its trees") {
  for (const int n_classes : {0, 2, 3}) {
    const Forest forest = some_forest(n_classes, n_classes == 2);
    check_forest(forest);
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      const Tree tree = random_tree(t, 5, n_classes);
      const Tree again = tree_of(forest, t);
      CHECK(again.arrays().right == tree.arrays().right);
      CHECK(again.arrays().feature == tree.arrays().feature);
      CHECK(again.arrays().threshold == tree.arrays().threshold);
      CHECK(again.arrays().missing_left == tree.arrays().missing_left);
      CHECK(again.arrays().n_node_samples == tree.arrays().n_node_samples);
      CHECK(again.arrays().weight == tree.arrays().weight);
      for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
        if (!tree.is_leaf(node)) continue;
        const auto i = static_cast<std::size_t>(node);
        CHECK(again.arrays().impurity[i] == tree.arrays().impurity[i]);
        const auto value = again.value(node);
        CHECK(std::equal(value.begin(), value.end(), tree.value(node).begin()));
        const auto kept = forest.trees[t].leaf_value(node, value.size(), forest.measure);
        CHECK(std::equal(value.begin(), value.end(), kept.begin()));
      }
    }
  }
}

TEST_CASE("forests grow by trees and shrink by trees") {
  const Forest forest = some_forest(3, true);
  const Forest first = truncated(forest, 2);
  CHECK(first.trees.size() == 2);
  const Forest both = extended(first, forest);
  check_forest(both);
  CHECK(both.trees.size() == 8);
  CHECK(n_bytes(both) - sizeof(Forest) ==
        n_bytes(first) - sizeof(Forest) + n_bytes(forest) - sizeof(Forest));
  CHECK_THROWS_AS(truncated(forest, 7), Error);
  CHECK_THROWS_AS(extended(forest, some_forest(2, true)), Error);
  CHECK_THROWS_AS(extended(forest, some_forest(3, false)), Error);
  CHECK_THROWS_AS(tree_of(forest, 6), Error);
}

TEST_CASE("what is not a forest is refused") {
  const std::vector<std::function<void(Forest&)>> damage{
      [](Forest& f) { f.n_outputs = 2; },
      [](Forest& f) { f.n_features = 0; },
      [](Forest& f) { f.n_training_rows = 63; },
      [](Forest& f) { f.measure = Measure::medians; },
      [](Forest& f) { f.measure = Measure(kMeasures); },
      [](Forest& f) { f.trees[1].row = {}; },
      [](Forest& f) { f.trees[1].row.pop_back(); },
      [](Forest& f) { f.trees[1].nodes.pop_back(); },
      [](Forest& f) { f.trees[1].nodes = {}; },
      [](Forest& f) { f.trees[1].nodes[0].right += 1; },
      [](Forest& f) { f.trees[1].nodes[0].right = 1000; },
      [](Forest& f) { f.trees[1].nodes[0].packed = 1; },
      [](Forest& f) { f.trees[1].nodes[0].packed |= CompactNode::kCategorical; },
      [](Forest& f) { f.trees[1].nodes[0].threshold = std::numeric_limits<double>::quiet_NaN(); },
      [](Forest& f) { f.trees[1].nodes.back().right -= 1; },
      [](Forest& f) { f.trees[1].nodes.back().threshold = 1; },
      [](Forest& f) { f.trees[1].nodes.back().packed = CompactNode::kMissingLeft; },
      [](Forest& f) { f.trees[1].value[0] = -1; },
      [](Forest& f) { f.trees[1].value[0] += 0.5; },
      [](Forest& f) { f.trees[1].value.pop_back(); },
      [](Forest& f) { f.trees[1].n_rows[0] = 0; },
      [](Forest& f) { f.trees[1].n_rows.push_back(1); },
      [](Forest& f) { f.trees[1].weight = {1.0}; },
      [](Forest& f) { f.trees[1].weight.assign(f.trees[1].n_leaves(), 0.0); },
      [](Forest& f) { f.trees[1].weight.assign(f.trees[1].n_leaves(), 1e308); },
      [](Forest& f) {
        f.trees[1].weight.assign(f.trees[1].n_leaves(), 1e-40);
        f.trees[1].weight[0] = 1.0;
      },
      [](Forest& f) { f.trees[1].impurity[0] = -1; },
      [](Forest& f) { f.trees[1].impurity.pop_back(); },
      [](Forest& f) { f.trees[1].category = {1}; },
      [](Forest& f) { f.trees[1].category_start = {0, 1}; },
  };
  for (std::size_t i = 0; i < damage.size(); ++i) {
    CAPTURE(i);
    Forest forest = some_forest(3, true);
    check_forest(forest);
    damage[i](forest);
    CHECK_THROWS_AS(check_forest(forest), Error);
  }
}

TEST_CASE("numbers that their unit cannot hold are refused") {
  const std::vector<std::function<void(Forest&)>> damage{
      [](Forest& f) { f.trees[1].value[0] = 1e200; },
      [](Forest& f) { f.trees[1].impurity[0] = 1e305; },
      [](Forest& f) { f.trees[1].impurity_exponent = -2000; },
      [](Forest& f) { f.trees[1].impurity_exponent = 1; },
      [](Forest& f) { f.trees[1].impurity_exponent = std::numeric_limits<std::int32_t>::min(); },
  };
  for (std::size_t i = 0; i < damage.size(); ++i) {
    CAPTURE(i);
    Forest forest = some_forest(0, false);
    forest.trees[1].value[0] = 1e-30;
    check_forest(forest);
    damage[i](forest);
    CHECK_THROWS_AS(check_forest(forest), Error);
  }
}

TEST_CASE("trees made one by one are a forest") {
  const Forest forest = some_forest(3, false);
  std::vector<Tree> trees;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) trees.push_back(tree_of(forest, t));
  std::vector<const Tree*> views;
  for (const Tree& tree : trees) views.push_back(&tree);
  const Forest made = forest_of(views, forest.measure);
  REQUIRE(made.trees.size() == forest.trees.size());
  for (std::size_t t = 0; t < made.trees.size(); ++t) {
    CHECK(made.trees[t].value == forest.trees[t].value);
    CHECK(made.trees[t].weight == forest.trees[t].weight);
    CHECK(made.trees[t].nodes.size() == forest.trees[t].nodes.size());
  }
  CHECK_THROWS_AS(forest_of({}, forest.measure), Error);
  TreeArrays other = trees[0].arrays();
  other.n_features += 1;
  const Tree wider(other);
  CHECK_THROWS_AS(forest_of(std::vector<const Tree*>{&trees[0], &wider}, forest.measure), Error);
  other = trees[0].arrays();
  other.n_node_samples[0] = std::int64_t{1} << 33;
  const Tree longer(other);
  CHECK_THROWS_AS(forest_of(std::vector<const Tree*>{&longer}, forest.measure), Error);
}

TEST_CASE("categories are compared with the levels of their columns") {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 1;
  const std::vector<CategoryIndex> list{1, 6};
  append_node(a, {false, 1, 0.0, true, 1.0, 4, 4.0, list}, std::vector{0.5}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, std::vector{1.0}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, std::vector{0.0}, 0);
  const Forest forest{2, 1, Measure::squared_error, {compact(a, Measure::squared_error)}};
  CHECK(categories_are_below(forest, std::vector<std::int64_t>{0, 7}));
  CHECK_FALSE(categories_are_below(forest, std::vector<std::int64_t>{9, 6}));
  CHECK_FALSE(categories_are_below(forest, std::vector<std::int64_t>{0, 70000}));
  CHECK_THROWS_AS(categories_are_below(forest, std::vector<std::int64_t>{7}), Error);
}

}  // namespace arboleda
