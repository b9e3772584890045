#include "tree/inner_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "learn/mixed_problem.h"
#include "tree/forest.h"

namespace arboleda {

namespace {

const Measure kMeasureOf[] = {Measure::gini,          Measure::entropy, Measure::misclassification,
                              Measure::squared_error, Measure::medians, Measure::poisson,
                              Measure::means,         Measure::means,   Measure::means,
                              Measure::means,         Measure::medians, Measure::means};

// Equal but for rounding at every level of a tree; numbers far below the largest of their kind are as
// good as 0.
void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  const double largest = *std::max_element(expected.begin(), expected.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) <= 1e-12 * std::abs(expected[i]) + 1e-14 * largest);
  }
}

void check_same(const TreeArrays& found, const TreeArrays& expected) {
  CHECK(found.n_features == expected.n_features);
  CHECK(found.n_outputs == expected.n_outputs);
  CHECK(found.impurity_exponent == expected.impurity_exponent);
  CHECK(found.feature == expected.feature);
  CHECK(found.threshold == expected.threshold);
  CHECK(found.right == expected.right);
  CHECK(found.missing_left == expected.missing_left);
  CHECK(found.n_node_samples == expected.n_node_samples);
  CHECK(found.category_start == expected.category_start);
  CHECK(found.category == expected.category);
  check_close(found.weight, expected.weight);
  check_close(found.value, expected.value);
  check_close(found.impurity, expected.impurity);
}

// Forth and back; what comes of leaves comes back bit by bit, so a second time nothing changes.
void check_round_trip(const Tree& tree, Measure measure) {
  const TreeArrays& a = tree.arrays();
  const Forest forest{a.n_features, a.n_outputs, measure, {compact(a, measure)}};
  check_forest(forest);
  const Tree again = tree_of(forest, 0);
  check_same(again.arrays(), a);
  const Forest twice{a.n_features, a.n_outputs, measure, {compact(again.arrays(), measure)}};
  CHECK(twice.trees[0].value == forest.trees[0].value);
  CHECK(twice.trees[0].impurity == forest.trees[0].impurity);
  CHECK(twice.trees[0].weight == forest.trees[0].weight);
  CHECK(tree_of(twice, 0).arrays().impurity == again.arrays().impurity);
}

}  // namespace

TEST_CASE("inner nodes follow from leaves as growing measured them, by every measure" *
          doctest::test_suite("one thread")) {
  const MixedProblem problem(2003);
  for (const std::size_t max_bins : {0, 16}) {
    const BinnedDataset table = problem.mixed(Context(), max_bins);
    for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
      for (const bool weighted : {false, true}) {
        for (const std::uint64_t min_leaf : {1u, 20u}) {
          CAPTURE(measure);
          CAPTURE(weighted);
          CAPTURE(min_leaf);
          GrowthOptions options;
          options.min_samples_leaf = min_leaf;
          options.random_splits = max_bins == 0 && min_leaf == 1 && weighted;
          const Tree tree = problem.fit(table, measure, weighted, options, Context(1, 5));
          REQUIRE(tree.n_nodes() > 9);
          check_round_trip(tree, kMeasureOf[measure]);
        }
      }
    }
  }
}

TEST_CASE("targets of any size have the spread that growing measured") {
  MixedProblem problem(400);
  const BinnedDataset table = problem.mixed(Context());
  const std::vector<double> y = problem.y;
  GrowthOptions options;
  options.min_samples_leaf = 3;
  for (const double unit : {1e300, 1e150, 1e-7, 1e-150, 1e-300}) {
    CAPTURE(unit);
    for (std::size_t i = 0; i < y.size(); ++i) problem.y[i] = y[i] * unit;
    for (const int measure : {3, 5}) {
      check_round_trip(problem.fit(table, measure, true, options, Context()), kMeasureOf[measure]);
    }
  }
}

TEST_CASE("weights of any size leave shares and impurities as they are") {
  MixedProblem problem(400);
  const BinnedDataset table = problem.mixed(Context());
  GrowthOptions options;
  options.min_samples_leaf = 3;
  for (const double unit : {1e290, 1e-290}) {
    for (double& weight : problem.weights) weight *= unit;
    for (const int measure : {0, 1, 2, 3, 5}) {
      check_round_trip(problem.fit(table, measure, true, options, Context()), kMeasureOf[measure]);
    }
    for (double& weight : problem.weights) weight /= unit;
  }
}

TEST_CASE("the impurity of a node that is nearly pure is not lost in rounding") {
  TreeArrays a;
  a.n_features = 1;
  a.n_outputs = 3;
  append_node(a, {false, 0, 0.5, false, 0.0, 1'000'000'000, 1e9}, std::vector{0.0, 0.0, 0.0}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector{0.0, 1.0, 0.0}, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 999'999'999, 999'999'999.0},
              std::vector{1.0, 0.0, 0.0}, 0);
  const auto impurity = [&](Measure measure) {
    return expanded(compact(a, measure), {1, 3, measure}).impurity[0];
  };
  const double p = 1e-9;
  CHECK(impurity(Measure::gini) == doctest::Approx(2 * p * (1 - p)).epsilon(1e-14));
  CHECK(impurity(Measure::misclassification) == doctest::Approx(p).epsilon(1e-14));
  const double bits = -p * std::log2(p) - (1 - p) * std::log1p(-p) / std::log(2.0);
  CHECK(impurity(Measure::entropy) == doctest::Approx(bits).epsilon(1e-14));
}

}  // namespace arboleda
