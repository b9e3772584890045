#include "predict/shared_leaves.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "learn/forest.h"
#include "learn/mixed_problem.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

Forest grown(const MixedProblem& problem, std::int32_t max_depth, int n_trees) {
  const Context context(1, 7);
  ForestOptions options;
  options.n_trees = n_trees;
  options.growth.max_depth = max_depth;
  options.growth.max_features = 2;
  return fit_regression_forest(problem.mixed(context), std::span(problem.y).first(problem.n), 1, {},
                               RegressionMeasure::squared_error, options, {}, context);
}

// By definition, over all pairs of rows.
std::vector<std::uint64_t> naive(const Forest& forest, const TableView& table,
                                 const std::vector<std::uint32_t>& group) {
  const std::size_t n_trees = forest.trees.size();
  const std::vector<NodeIndex> leaf = apply_forest(forest, table, Context(1));
  std::vector<std::uint64_t> sums(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = 0; j < group.size(); ++j) {
      if (group[i] != group[j]) continue;
      std::uint64_t shared = 0;
      for (std::size_t t = 0; t < n_trees; ++t) {
        shared += leaf[i * n_trees + t] == leaf[j * n_trees + t];
      }
      sums[i] += shared * shared;
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("shared leaves are those of all pairs of rows, whichever way they are counted") {
  const MixedProblem problem(300);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  std::vector<std::uint32_t> one(problem.n, 0),
      classes(problem.labels.begin(), problem.labels.begin() + problem.n);
  std::vector<std::uint32_t> gaps(problem.n);  // numbers without rows, groups of one row
  for (std::size_t i = 0; i < problem.n; ++i) {
    gaps[i] = i % 5 == 0 ? static_cast<std::uint32_t>(i) : 7;
  }
  for (const std::int32_t max_depth : {1, 3, -1}) {
    const Forest forest = grown(problem, max_depth, 9);
    for (const auto& group : {one, classes, gaps}) {
      const auto expected = naive(forest, table, group);
      using enum SharedLeavesBy;
      for (const SharedLeavesBy by : {cheaper, row, tree}) {
        for (const int n_threads : {1, 3}) {
          CHECK(squared_shared_leaves(forest, table, group, Context(n_threads), by) == expected);
        }
      }
    }
  }
}

TEST_CASE("groups of other rows are refused") {
  const MixedProblem problem(50);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const Forest forest = grown(problem, 2, 2);
  const std::vector<std::uint32_t> few(49), beyond(50, 50);
  CHECK_THROWS_AS(squared_shared_leaves(forest, table, few, Context(1)), Error);
  CHECK_THROWS_AS(squared_shared_leaves(forest, table, beyond, Context(1)), Error);
}

}  // namespace arboleda
