#include "grow/histogram_grower.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "grow/naive_boosted_tree.h"
#include "grow/row_codes.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

// Gradients and hessians whose sums are exact in float64 and as integers.
struct Statistics {
  Statistics(const MixedProblem& problem, bool unit_hessian) {
    RandomStream random(3, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < problem.n; ++i) {
      const double noise = static_cast<double>(random.below(257)) - 128.0;
      gradient.push_back((std::floor(problem.y[i] * 16.0) - 80.0 + noise) / 256.0);
      if (!unit_hessian) hessian.push_back((1.0 + random.below(64)) / 64.0);
    }
  }
  std::vector<double> gradient, hessian;
};

std::vector<RowIndex> first_rows(std::size_t n, std::size_t step) {
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < n; i += step) rows.push_back(static_cast<RowIndex>(i));
  return rows;
}

// Both trees from the roots down: same questions, rows and values.
void check_same(const TreeArrays& tree, const LeafRows& leaves, const NaiveBoostedTree& naive) {
  std::vector<std::pair<NodeIndex, int>> stack{{0, 0}};
  std::size_t n_leaves = 0;
  while (!stack.empty()) {
    const auto [node, other] = stack.back();
    stack.pop_back();
    const auto i = static_cast<std::size_t>(node);
    const auto& expected = naive.nodes[static_cast<std::size_t>(other)];
    REQUIRE(tree.n_node_samples[i] == static_cast<std::int64_t>(expected.rows.size()));
    REQUIRE(tree.value[i] == doctest::Approx(expected.value).epsilon(1e-9));
    REQUIRE((tree.right[i] < 0) == (expected.left < 0));
    if (expected.left < 0) {
      ++n_leaves;
      for (const auto& leaf : leaves.leaves) {
        if (leaf.node != node) continue;
        const std::vector<RowIndex> rows(
            leaves.rows.begin() + static_cast<std::ptrdiff_t>(leaf.begin),
            leaves.rows.begin() + static_cast<std::ptrdiff_t>(leaf.end));
        REQUIRE(rows == expected.rows);
      }
      continue;
    }
    REQUIRE(tree.feature[i] == expected.feature);
    REQUIRE(tree.impurity[i] == doctest::Approx(expected.gain).epsilon(1e-6));
    stack.push_back({tree.right[i], expected.right});
    stack.push_back({node + 1, expected.left});
  }
  CHECK(leaves.leaves.size() == n_leaves);
}

struct Case {
  std::string name;
  std::function<void(HistogramGrowth&)> set;
};

std::vector<Case> cases() {
  return {
      {"plain", [](HistogramGrowth&) {}},
      {"few leaves", [](HistogramGrowth& o) { o.max_leaf_nodes = 7; }},
      {"depth", [](HistogramGrowth& o) { o.max_depth = 3; }},
      {"rows in a leaf", [](HistogramGrowth& o) { o.min_samples_leaf = 9; }},
      {"hessian in a leaf", [](HistogramGrowth& o) { o.min_child_weight = 5.3; }},
      {"L2", [](HistogramGrowth& o) { o.l2 = 2.5; }},
      {"L1", [](HistogramGrowth& o) { o.l1 = 1.5; }},
      {"least gain", [](HistogramGrowth& o) { o.min_gain = 0.75; }},
      {"largest step", [](HistogramGrowth& o) { o.max_delta_step = 0.25; }},
      {"monotonic", [](HistogramGrowth& o) { o.monotonic = {1, -1, 1, 0}; }},
      {"no smoothing", [](HistogramGrowth& o) { o.category_smoothing = o.category_l2 = 0.0; }},
      {"much at once",
       [](HistogramGrowth& o) {
         o.max_leaf_nodes = 20;
         o.min_samples_leaf = 4;
         o.l2 = 1.0;
         o.l1 = 0.5;
         o.monotonic = {-1, 0, 1, 0};
       }},
  };
}

}  // namespace

TEST_CASE("every node is that of a tree grown the plain way") {
  const Context context(2);
  for (const std::size_t n : {40, 300}) {
    const MixedProblem problem(n);
    const CodedTable table = problem.mixed(context, 255);
    for (const bool unit : {true, false}) {
      const Statistics statistics(problem, unit);
      for (const Case& c : cases()) {
        for (const std::size_t step : {1, 3}) {
          CAPTURE(n);
          CAPTURE(c.name);
          CAPTURE(unit);
          CAPTURE(step);
          HistogramGrowth options;
          options.max_leaf_nodes = 31;
          c.set(options);
          HistogramGrower grower(table, make_row_codes(table, context), options, context);
          LeafRows leaves;
          const TreeArrays tree =
              grower.grow(first_rows(n, step), statistics.gradient, statistics.hessian, 0, leaves);
          const NaiveBoostedTree naive(table, statistics.gradient, statistics.hessian, options,
                                       first_rows(n, step));
          check_same(tree, leaves, naive);
        }
      }
    }
  }
}

}  // namespace arboleda
