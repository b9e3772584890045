#include "predict/narrow_trees.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/random.h"
#include "predict/forest.h"
#include "predict/forest_leaves.h"

namespace arboleda {

namespace {

constexpr FeatureIndex kFeatures = 4;
constexpr double kHard[] = {0.0,       -0.0,   std::numeric_limits<double>::infinity(),
                            1e308,     -1e308, std::numeric_limits<double>::denorm_min(),
                            0.1,       3.5e38, -3.5e38,
                            16777217.0};

// As low as a threshold of a narrow tree can be.
constexpr double kLowest = std::numeric_limits<float>::lowest();

double number(RandomStream& random) {
  if (random.below(3) == 0) return kHard[random.below(std::size(kHard))];
  return (random.below(600) - 300.0) / 7.0;
}

// Of so many leaves; leaning: to the right, so that it is deep.
CompactTree tree_of(std::size_t n_leaves, bool leaning, RandomStream& random) {
  TreeArrays a;
  a.n_features = kFeatures;
  a.n_outputs = 1;
  const std::function<void(std::size_t, NodeIndex)> grow = [&](std::size_t n, NodeIndex right_of) {
    const std::vector<double> value{random.below(1000) / 7.0};
    if (n == 1) {
      append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, value, right_of);
      return;
    }
    const auto feature = static_cast<FeatureIndex>(random.below(kFeatures));
    const NodeIndex id = append_node(
        a, {false, feature, std::max(number(random), kLowest), random.below(2) == 0, 0.0, 2, 2.0},
        value, right_of);
    const std::size_t left = leaning ? 1 : 1 + random.below(static_cast<std::uint32_t>(n - 1));
    grow(left, -1);
    grow(n - left, id);
  };
  grow(n_leaves, -1);
  return compact(a, Measure::squared_error);
}

template <class T>
TableView view(const std::vector<T>& rows, DType dtype) {
  TableView table{rows.size() / kFeatures, {}};
  for (std::size_t j = 0; j < kFeatures; ++j) {
    table.columns.push_back(
        {reinterpret_cast<const std::byte*>(rows.data() + j), kFeatures * sizeof(T), dtype});
  }
  return table;
}

NodeIndex leaf_of(const CompactTree& tree, const TableView& table, std::size_t row) {
  NodeIndex node = 0;
  while (!tree.nodes[static_cast<std::size_t>(node)].is_leaf()) {
    const auto column =
        static_cast<std::size_t>(tree.nodes[static_cast<std::size_t>(node)].feature());
    node = tree.child(node, table.at(row, column));
  }
  return node;
}

// A row with a decided leaf is in that of its walk; returns how many rows are undecided.
std::size_t check_tree(const CompactTree& tree, const TableView& table) {
  const std::vector<NarrowNode> nodes = narrow(tree);
  RowBlock<float> block;
  block.numbers.resize(std::max<std::size_t>(1, table.n_rows) * kFeatures);
  fill(table, 0, table.n_rows, block);
  std::vector<Walker> walkers;
  std::vector<std::uint32_t> as_nodes(table.n_rows), as_numbers(table.n_rows), undecided, again;
  walk(nodes, LeavesAs::nodes, block, kFeatures, walkers, as_nodes, undecided);
  walk(nodes, LeavesAs::numbers, block, kFeatures, walkers, as_numbers, again);
  REQUIRE(undecided == again);
  std::vector<bool> is_certain(table.n_rows, true);
  for (const std::uint32_t row : undecided) is_certain[row] = false;
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    if (!is_certain[row]) continue;
    const auto leaf = static_cast<std::size_t>(leaf_of(tree, table, row));
    REQUIRE(as_nodes[row] == leaf);
    REQUIRE(as_numbers[row] == tree.nodes[leaf].leaf());
  }
  return undecided.size();
}

}  // namespace

TEST_CASE("narrow nodes lead every row to the leaf of its walk, whatever its numbers") {
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  std::size_t n_undecided = 0;
  for (const std::size_t n_rows : {0u, 1u, 7u, 8u, 9u, 400u}) {
    for (const bool missing : {false, true}) {
      std::vector<double> doubles;
      for (std::size_t i = 0; i < n_rows * kFeatures; ++i) {
        doubles.push_back(missing && random.below(5) == 0 ? std::nan("") : number(random));
      }
      const std::vector<float> floats(doubles.begin(), doubles.end());
      for (const std::size_t n_leaves : {1u, 2u, 5u, 300u}) {
        for (const bool leaning : {false, true}) {
          const CompactTree tree = tree_of(n_leaves, leaning, random);
          REQUIRE(can_be_narrow(tree, kFeatures));
          n_undecided += check_tree(tree, view(doubles, DType::float64));
          CHECK(check_tree(tree, view(floats, DType::float32)) == 0);
        }
      }
    }
  }
  CHECK(n_undecided > 0);
}

TEST_CASE("a tree with thresholds below those of float is not narrow") {
  RandomStream random(7, Purpose::feature_subset, 0, 0);
  CompactTree tree = tree_of(20, false, random);
  REQUIRE(can_be_narrow(tree, kFeatures));
  tree.nodes[0].threshold = std::nextafter(kLowest, -1e300);
  CHECK_FALSE(can_be_narrow(tree, kFeatures));
}

TEST_CASE("all ways of finding leaves agree, for a table and for its parts") {
  RandomStream random(6, Purpose::feature_subset, 0, 0);
  std::vector<double> doubles;
  for (int i = 0; i < 3000 * kFeatures; ++i) {
    doubles.push_back(random.below(9) == 0 ? std::nan("") : number(random));
  }
  const std::vector<float> floats(doubles.begin(), doubles.end());
  const struct {
    std::size_t n_leaves;
    WalkBy way;
  } cases[] = {{20, WalkBy::codes}, {400, WalkBy::narrow_nodes}};
  for (const auto& [n_leaves, way] : cases) {
    Forest forest{kFeatures, 1, Measure::squared_error};
    for (int t = 0; t < 9; ++t) forest.trees.push_back(tree_of(n_leaves, false, random));
    for (const TableView& table : {view(doubles, DType::float64), view(floats, DType::float32)}) {
      CHECK(walk_for(forest.trees, kFeatures, table.n_rows) == way);
      CHECK(walk_for(forest.trees, kFeatures, 20) == WalkBy::wide_nodes);
      const std::vector<NodeIndex> leaves = apply_forest(forest, table, Context());
      CHECK(apply_forest(forest, table, Context(3)) == leaves);
      std::vector<NodeIndex> parts;
      for (std::size_t begin = 0; begin < table.n_rows; begin += 20) {
        const auto some = apply_forest(forest, rows_between(table, begin, begin + 20), Context());
        parts.insert(parts.end(), some.begin(), some.end());
      }
      CHECK(parts == leaves);
    }
  }
}

}  // namespace arboleda
