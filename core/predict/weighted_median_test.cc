#include "predict/weighted_median.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "learn/forest.h"
#include "learn/mixed_problem.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

// inf { y : sum_{t: h_t <= y} w_t >= 1/2 sum_t w_t }, where y need only be one of the members.
double naive_median(const std::vector<double>& members, const std::vector<double>& weights) {
  double total = 0.0;
  for (const double w : weights) total += w;
  double found = std::numeric_limits<double>::infinity();
  for (const double y : members) {
    double below = 0.0;
    for (std::size_t t = 0; t < members.size(); ++t) below += members[t] <= y ? weights[t] : 0.0;
    if (below >= 0.5 * total) found = std::min(found, y);
  }
  return found;
}

Forest some_forest(const MixedProblem& problem) {
  ForestOptions options;
  options.n_trees = 9;
  options.growth.max_depth = 3;
  return fit_regression_forest(problem.mixed(Context()), std::span(problem.y).first(problem.n), 1,
                               {}, RegressionMeasure::squared_error, options, {}, Context());
}

}  // namespace

TEST_CASE("the trees' weighted medians are those of the definition, at once and one by one") {
  const MixedProblem problem(2300);
  const Forest forest = some_forest(problem);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<double> weights{1.0, 0.5, 2.0, 0.0, 0.25, 1.0, 1.0, 3.0, 0.125};
  std::vector<std::vector<double>> members(9, std::vector<double>(table.n_rows));
  RunningMedians running(table.n_rows);
  for (std::size_t t = 0; t < 9; ++t) {
    predict_tree(tree_of(forest, t), table, Context(), std::span(members[t]));
    running.add(members[t], weights[t], Context(2));
  }
  const auto medians = median_values(forest, weights, table, Context());
  CHECK(medians == median_values(forest, weights, table, Context(3)));
  CHECK(medians == running.medians(Context(2)));
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    std::vector<double> of_row;
    for (const auto& of_tree : members) of_row.push_back(of_tree[i]);
    CHECK(medians[i] == naive_median(of_row, weights));
  }
}

TEST_CASE("half of the weight is enough, and a member of weight 0 can predict alone") {
  const auto median = [](std::vector<WeightedValue> members) { return weighted_median(members); };
  CHECK(median({{1.0, 1.0}, {2.0, 1.0}}) == 1.0);
  CHECK(median({{1.0, 1.0}, {2.0, 1.5}}) == 2.0);
  CHECK(median({{1.0, 1.0}, {2.0, 1.0}, {3.0, 1.0}}) == 2.0);
  CHECK(median({{7.0, 0.0}}) == 7.0);
}

TEST_CASE("medians refuse invalid weights and values") {
  const MixedProblem problem(100);
  const Forest forest = some_forest(problem);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const auto with = [&](double weight) {
    return median_values(forest, std::vector<double>(9, weight), table, Context());
  };
  CHECK_THROWS_AS(with(-1.0), Error);
  CHECK_THROWS_AS(median_values(forest, std::vector{1.0}, table, Context()), Error);
  RunningMedians running(2);
  CHECK_THROWS_AS(running.medians(Context()), Error);
  CHECK_THROWS_AS(running.add(std::vector{1.0}, 1.0, Context()), Error);
  CHECK_THROWS_AS(running.add(std::vector{1.0, std::nan("")}, 1.0, Context()), Error);
}

TEST_CASE("trees take other values in their leaves") {
  const MixedProblem problem(300);
  const Forest forest = some_forest(problem);
  std::vector<double> values;
  for (const CompactTree& tree : forest.trees) {
    for (const double value : tree.value) values.push_back(10.0 - value);
  }
  const Forest other = with_leaf_values(forest, values);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  std::vector<double> before(table.n_rows), after(table.n_rows);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    predict_tree(tree_of(forest, t), table, Context(), std::span(before));
    predict_tree(tree_of(other, t), table, Context(), std::span(after));
    for (std::size_t i = 0; i < table.n_rows; ++i) CHECK(after[i] == 10.0 - before[i]);
  }
  values.push_back(0.0);
  CHECK_THROWS_AS(with_leaf_values(forest, values), Error);
  values.resize(1);
  CHECK_THROWS_AS(with_leaf_values(forest, values), Error);
}

}  // namespace arboleda
