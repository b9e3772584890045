// A compact tree that comes from anywhere: is it one?
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "tree/compact_tree.h"

namespace arboleda {

namespace {

constexpr int kMostExponent = 4096;
constexpr double kMostScaled = 1e150;

template <class Array, class Holds>
bool all(const Array& array, const Holds& holds) {
  return std::all_of(array.begin(), array.end(), holds);
}

void check_lengths(const CompactTree& tree, const TreeShape& shape) {
  const std::size_t n = tree.n_nodes();
  const std::size_t n_leaves = tree.n_leaves();
  const auto width = static_cast<std::size_t>(shape.n_outputs);
  require(n >= 1 && n < std::numeric_limits<NodeIndex>::max(),
          "a tree of the forest has no node or too many");
  require(n == 2 * n_leaves - 1, "a tree of the forest must have one leaf more than inner nodes");
  const std::size_t n_values = keeps_values(shape.measure) ? n : n_leaves;
  const std::size_t n_impurities = keeps_impurities(shape.measure) ? n : n_leaves;
  require(tree.value.size() / width == n_values && tree.value.size() % width == 0 &&
              (tree.weight.empty() || tree.weight.size() == n_leaves) &&
              (tree.impurity.empty() || tree.impurity.size() == n_impurities),
          "the arrays of a tree of the forest differ in length");
}

void check_values(const CompactTree& tree, Measure measure) {
  require(all(tree.value, [](double x) { return std::isfinite(x); }),
          "a value of the forest is not a finite number");
  const bool shares = measure == Measure::gini || measure == Measure::entropy ||
                      measure == Measure::misclassification;
  if (shares) {
    const std::size_t n_classes = tree.value.size() / tree.n_leaves();
    for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
      const auto of_leaf = std::span(tree.value).subspan(leaf * n_classes, n_classes);
      double sum = 0.0;
      for (const double share : of_leaf) sum += share;
      require(all(of_leaf, [](double x) { return x >= 0.0; }) && std::abs(sum - 1.0) < 1e-6,
              "the class shares of a leaf of the forest are not shares");
    }
  }
  if (measure == Measure::poisson) {
    require(all(tree.value, [](double x) { return x >= 0.0; }),
            "a mean of the forest is below 0 in a tree of amounts");
  }
}

void check_numbers(const CompactTree& tree, Measure measure) {
  check_values(tree, measure);
  require(all(tree.impurity, [](double x) { return std::isfinite(x) && x >= 0; }),
          "an impurity of the forest is not a number from 0 up");
  require(measure != Measure::squared_error || tree.impurity_exponent % 2 == 0,
          "the unit of the variances of the forest is not a square");
  require(all(tree.n_rows, [](std::uint32_t n) { return n > 0; }),
          "a leaf of the forest has no rows");
  double whole = 0.0;
  for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
    const double weight = tree.weight_of(leaf);
    require(weight > 0.0, "a weight of the forest is not a positive number");
    whole += weight;
  }
  require(std::isfinite(whole), "the weights of the forest are not finite");
  // Weights of growing are whole numbers of at most 62 bits, times one unit.
  for (std::size_t leaf = 0; leaf < tree.n_leaves(); ++leaf) {
    require(tree.weight_of(leaf) / whole > 1e-30, "the weights of the forest are too far apart");
  }
}

// Targets of growing are whole numbers of at most 62 bits about their middle, times one unit: what is
// worked out from their means stays far within float64.
void check_unit(const CompactTree& tree, Measure measure) {
  const bool squares = measure == Measure::squared_error;
  if (tree.n_nodes() == 1 || (!squares && measure != Measure::poisson)) return;
  const int exponent = squares ? tree.impurity_exponent / 2 : tree.impurity_exponent;
  require(exponent > -kMostExponent && exponent < kMostExponent &&
              all(
                  tree.value,
                  [&](double x) { return std::abs(std::ldexp(x, -exponent)) < kMostScaled; }) &&
              all(
                  tree.impurity, [](double x) { return x < kMostScaled * kMostScaled; }),
          "the numbers of the forest do not fit their unit");
}

void check_node(const CompactTree& tree, std::size_t i, const TreeShape& shape) {
  const CompactNode& node = tree.nodes[i];
  require(node.right > static_cast<NodeIndex>(i) + 1 &&
              static_cast<std::size_t>(node.right) < tree.n_nodes(),
          "a child of the forest is out of range");
  require(node.feature() < shape.n_features, "a feature of the forest is out of range");
  if (node.is_categorical()) return;
  require(!std::isnan(node.threshold), "a threshold of the forest is not a number");
}

// Preorder read as brackets: a subtree begins at `node` and must end where its parent expects.
void check_nodes(const CompactTree& tree, const TreeShape& shape) {
  std::vector<NodeIndex> ends;  // where the open right subtrees begin, innermost last
  NodeIndex n_leaves = 0;
  std::size_t n_lists = 0;
  for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
    const CompactNode& node = tree.nodes[i];
    if (!node.is_leaf()) {
      check_node(tree, i, shape);
      if (node.is_categorical()) {
        require(node.threshold == static_cast<double>(n_lists++),
                "the lists of categories of the forest are out of order");
      }
      ends.push_back(node.right);
      continue;
    }
    require(node.right == -1 - n_leaves++, "the leaves of the forest are out of order");
    require(node.threshold == 0.0 && node.packed == 0, "a leaf of the forest has a test");
    require(ends.empty() == (i + 1 == tree.n_nodes()), "the nodes of the forest are not trees");
    if (ends.empty()) continue;
    require(ends.back() == static_cast<NodeIndex>(i) + 1, "a child of the forest is out of place");
    ends.pop_back();
  }
  require(static_cast<std::size_t>(n_leaves) == tree.n_leaves(),
          "the number of leaves differs from the one that the forest states");
  require(tree.category_start.size() == (n_lists == 0 ? 0 : n_lists + 1),
          "the categories of the forest do not belong to its nodes");
}

void check_categories(const CompactTree& tree) {
  const auto& start = tree.category_start;
  if (start.empty()) {
    require(tree.category.empty(), "the categories of the forest belong to no node");
    return;
  }
  require(start.front() == 0 && start.back() == tree.category.size() &&
              std::adjacent_find(start.begin(), start.end(), std::greater_equal<>()) == start.end(),
          "the categories of the forest do not belong to its nodes");
  for (std::size_t list = 0; list + 1 < start.size(); ++list) {
    const auto begin = tree.category.begin() + start[list];
    const auto end = tree.category.begin() + start[list + 1];
    require(std::adjacent_find(begin, end, std::greater_equal<>()) == end,
            "the categories of a node of the forest are not in ascending order");
    require(*(end - 1) != kNoCategory, "a node lists the number that stands for no category");
  }
}

void check_rows(const CompactTree& tree, std::size_t n_training_rows) {
  std::uint64_t n = 0;
  for (const std::uint32_t of_leaf : tree.n_rows) n += of_leaf;
  require(n <= std::numeric_limits<RowIndex>::max(), "a tree of the forest has too many rows");
  if (tree.row.empty()) return;
  require(tree.row.size() == n, "the rows of the forest are more or fewer than its leaves hold");
  require(all(tree.row, [&](RowIndex row) { return row < n_training_rows; }),
          "a row of the forest is out of range");
}

}  // namespace

void check_compact(const CompactTree& tree, const TreeShape& shape, std::size_t n_training_rows) {
  check_lengths(tree, shape);
  check_nodes(tree, shape);
  check_categories(tree);
  check_numbers(tree, shape.measure);
  check_unit(tree, shape.measure);
  check_rows(tree, n_training_rows);
}

}  // namespace arboleda
