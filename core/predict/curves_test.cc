#include "predict/curves.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "learn/mixed_problem.h"
#include "predict/ensemble.h"
#include "predict/forest.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kRows = 337;

// By every kind of split, of depths from none to nine; of one output on request.
std::vector<Tree> some_trees(const MixedProblem& problem, const BinnedDataset& table, int measure) {
  std::vector<Tree> trees;
  for (int i = 0; i < 9; ++i) {
    GrowthOptions options;
    options.max_depth = i;
    options.random_splits = i % 3 == 1;
    trees.push_back(problem.fit(table, measure, false, options, Context(1, std::uint64_t(i))));
  }
  return trees;
}

Forest forest_of(const std::vector<Tree>& trees, Measure measure) {
  Forest forest{trees[0].arrays().n_features, trees[0].arrays().n_outputs, measure};
  for (const Tree& tree : trees) forest.trees.push_back(compact(tree.arrays(), measure));
  return forest;
}

// The table with one value all down each of the varied columns.
TableView with_point(const TableView& table, std::span<const Axis> axes,
                     const std::vector<const double*>& values) {
  TableView changed = table;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    changed.columns[static_cast<std::size_t>(axes[d].feature)] = {
        reinterpret_cast<const std::byte*>(values[d]), 0, DType::float64};
  }
  return changed;
}

// One prediction of the whole table for each point of the grid.
template <class Predict>
std::vector<double> naive_curves(const TableView& table, std::span<const Axis> axes,
                                 std::size_t begin, std::size_t end, const Predict& predict) {
  std::vector<std::vector<double>> at_points;
  const Axis& last = axes.back();
  for (std::size_t i = 0; i < (axes.size() == 2 ? axes[0].points.size() : 1); ++i) {
    for (const double& x : last.points) {
      const auto values = axes.size() == 2 ? std::vector{&axes[0].points[i], &x} : std::vector{&x};
      at_points.push_back(predict(with_point(table, axes, values)));
    }
  }
  const std::size_t k = at_points[0].size() / table.n_rows;
  std::vector<double> curves;
  for (std::size_t row = begin; row < end; ++row) {
    for (const auto& predicted : at_points) {
      for (std::size_t o = 0; o < k; ++o) curves.push_back(predicted[row * k + o]);
    }
  }
  return curves;
}

// Ascending, with a gap at the end; in no order; categories with an unseen one; pairs of these.
const std::vector<std::vector<Axis>> kGrids = {
    {{0, {-70.5, -20, 0, 0.25, 3, 80, 190, kGap}}},
    {{1, {9, kGap, 2.5, 2.5, 0, 11}}},
    {{2, {kGap}}},
    {{3, {0, 1, 2, 3, 7, 30, 39, 65000, kGap}}},
    {{0, {-30, 5, 100}}, {1, {1, 2, 3, 12, kGap}}},
    {{3, {4, 1, 9, kGap}}, {2, {kGap, 0, 3, 8}}},
};

}  // namespace

TEST_CASE("curves are the predictions with other values in the columns, bit for bit") {
  const MixedProblem problem(kRows);
  const BinnedDataset coded = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<Tree> classes = some_trees(problem, coded, 0);
  const std::vector<Tree> medians = some_trees(problem, coded, 4);
  TreeEnsemble ensemble{{0.1, -7.3, 2e-9}, some_trees(problem, coded, 3)};
  for (const auto& axes : kGrids) {
    CAPTURE(axes[0].feature);
    CAPTURE(axes.size());
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, kRows}, {5, 99}}) {
      for (const int n_threads : {1, 3}) {
        const Context context(n_threads);
        const RowRange<TableView> rows{table, begin, end};
        for (const Voting voting : {Voting::soft, Voting::hard, Voting::laplace}) {
          const Forest forest = forest_of(classes, Measure::gini);
          const Ballot ballot(forest, voting, std::vector<std::size_t>{3});
          CHECK(vote_curves(forest, ballot, axes, rows, context) ==
                naive_curves(table, axes, begin, end, [&](const TableView& changed) {
                  return mean_votes(forest, ballot, changed, Context());
                }));
        }
        const Forest forest = forest_of(medians, Measure::medians);
        const Ballot ballot(forest, Voting::soft, {});
        CHECK(vote_curves(forest, ballot, axes, rows, context) ==
              naive_curves(table, axes, begin, end, [&](const TableView& changed) {
                return mean_votes(forest, ballot, changed, Context());
              }));
        CHECK(score_curves(ensemble, axes, rows, context) ==
              naive_curves(table, axes, begin, end, [&](const TableView& changed) {
                return predict_scores(ensemble, changed, Context());
              }));
        for (const std::size_t t : {0u, 8u}) {
          CHECK(value_curves(classes[t], axes, rows, context) ==
                naive_curves(table, axes, begin, end, [&](const TableView& changed) {
                  std::vector<double> values(changed.n_rows * 3);
                  predict_tree(classes[t], changed, Context(), std::span(values));
                  return values;
                }));
        }
      }
    }
  }
}

TEST_CASE("a table that stores only what is not zero has the same curves") {
  const MixedProblem problem(kRows);
  const TableView table = problem.dense_view(MixedProblem::kColumns);
  const TreeEnsemble ensemble{{0.5}, some_trees(problem, problem.sparse(Context()), 3)};
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> index;
  std::vector<double> data;
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    for (std::size_t j = 0; j < table.n_columns(); ++j) {
      if (table.at(i, j) == 0.0) continue;
      index.push_back(static_cast<std::int32_t>(j));
      data.push_back(table.at(i, j));
    }
    start.push_back(static_cast<std::int64_t>(index.size()));
  }
  const ColumnView view{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                        DType::float64};
  const SparseRows sparse{kRows, MixedProblem::kColumns, {start, index, view}};
  const std::vector<Axis> axes{{4, {-9, -1, 0, 1, 9}}};
  CHECK(score_curves(ensemble, axes, RowRange<SparseRows>{sparse, 3, 300}, Context(2)) ==
        score_curves(ensemble, axes, RowRange<TableView>{table, 3, 300}, Context()));
}

TEST_CASE("curves that cannot be are refused") {
  const MixedProblem problem(60);
  const BinnedDataset coded = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const Tree tree = some_trees(problem, coded, 3)[4];
  const RowRange<TableView> rows{table, 0, 60};
  const auto curves = [&](std::vector<Axis> axes, const RowRange<TableView>& of) {
    return value_curves(tree, axes, of, Context());
  };
  CHECK(curves({{0, {1.0}}}, {table, 7, 7}).empty());
  CHECK_THROWS_AS(curves({}, rows), Error);
  CHECK_THROWS_AS(curves({{0, {}}}, rows), Error);
  CHECK_THROWS_AS(curves({{-1, {1}}}, rows), Error);
  CHECK_THROWS_AS(curves({{4, {1}}}, rows), Error);
  CHECK_THROWS_AS(curves({{1, {1}}, {1, {2}}}, rows), Error);
  CHECK_THROWS_AS(curves({{0, {1}}, {1, {1}}, {2, {1}}}, rows), Error);
  CHECK_THROWS_AS(curves({{0, {1}}}, {table, 0, 61}), Error);
  CHECK_THROWS_AS(curves({{0, {1}}}, {table, 9, 3}), Error);
  CHECK_THROWS_AS(curves({{0, {1}}}, {problem.dense_view(3), 0, 60}), Error);
  TreeEnsemble linear{{0.0}, {tree}};
  linear.linear.start = {0};
  CHECK_THROWS_AS(score_curves(linear, std::vector<Axis>{{0, {1}}}, rows, Context()), Error);
}

}  // namespace arboleda
