#include "predict/forest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "learn/mixed_problem.h"
#include "predict/predict.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

const std::vector<std::size_t> kClasses[] = {{3}, {3}, {3}, {}, {}, {}, {3, 2}, {3, 2}, {3, 2}};

Measure measure_of(int measure) {
  const Measure of_one[] = {Measure::gini,          Measure::entropy, Measure::misclassification,
                            Measure::squared_error, Measure::medians, Measure::poisson};
  if (measure < 6) return of_one[measure];
  return measure == 10 ? Measure::medians : Measure::means;
}

// Trees of depths from none to nine, the first one a leaf, by every kind of split, weighted or not.
Forest some_forest(const MixedProblem& problem, const BinnedDataset& table, int measure) {
  Forest forest;
  forest.measure = measure_of(measure);
  for (int i = 0; i < 11; ++i) {
    GrowthOptions options;
    options.max_depth = i;
    options.random_splits = i % 3 == 1;
    const Tree tree =
        problem.fit(table, measure, i % 2 == 1, options, Context(1, std::uint64_t(i)));
    forest.n_features = tree.arrays().n_features;
    forest.n_outputs = tree.arrays().n_outputs;
    forest.trees.push_back(compact(tree.arrays(), forest.measure));
  }
  check_forest(forest);
  return forest;
}

// One tree after another, each by itself, in the order of the definition.
std::vector<double> naive_votes(const Forest& forest, const TableView& table, Voting voting,
                                const std::vector<std::size_t>& n_classes) {
  const auto k = static_cast<std::size_t>(forest.n_outputs);
  std::vector<double> votes(table.n_rows * k, 0.0);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Tree tree = tree_of(forest, t);
    std::vector<double> value(votes.size());
    std::vector<NodeIndex> leaf(table.n_rows);
    predict_tree(tree, table, Context(), std::span(value));
    apply_tree(tree, table, Context(), std::span(leaf));
    for (std::size_t row = 0; row < table.n_rows; ++row) {
      const double weight = tree.arrays().weight[static_cast<std::size_t>(leaf[row])];
      std::size_t begin = 0;
      for (const std::size_t n : voting == Voting::soft ? std::vector{k} : n_classes) {
        const double* shares = value.data() + row * k + begin;
        for (std::size_t c = 0; c < n; ++c) {
          const bool first_largest = shares[c] == *std::max_element(shares, shares + n) &&
                                     std::find(shares, shares + c, shares[c]) == shares + c;
          votes[row * k + begin + c] += voting == Voting::soft ? shares[c]
                                        : voting == Voting::hard
                                            ? first_largest
                                            : (weight * shares[c] + 1.0) / (weight + double(n));
        }
        begin += n;
      }
    }
  }
  for (double& vote : votes) vote /= double(forest.trees.size());
  return votes;
}

}  // namespace

TEST_CASE("votes of a forest are the means of its trees' predictions, for any number of threads") {
  const MixedProblem problem(1203);
  const BinnedDataset coded = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  for (int measure = 0; measure < MixedProblem::kMeasures; ++measure) {
    CAPTURE(measure);
    const Forest forest = some_forest(problem, coded, measure);
    const auto n_classes = measure < 9 ? kClasses[measure] : std::vector<std::size_t>{};
    for (const Voting voting : {Voting::soft, Voting::hard, Voting::laplace}) {
      if (n_classes.empty() && voting != Voting::soft) {
        CHECK_THROWS_AS(Ballot(forest, voting, n_classes), Error);
        continue;
      }
      const Ballot ballot(forest, voting, n_classes);
      const std::vector<double> expected = naive_votes(forest, table, voting, n_classes);
      for (const int n_threads : {1, 2, 7}) {
        CHECK(mean_votes(forest, ballot, table, Context(n_threads)) == expected);
      }
    }
  }
}

TEST_CASE("leaves of a forest are nodes of its trees, whichever way they are found") {
  const MixedProblem problem(517);
  const BinnedDataset coded = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const Forest forest = some_forest(problem, coded, 0);
  const std::vector<NodeIndex> found = apply_forest(forest, table, Context(3));
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < 517; row += 3) rows.push_back(516 - row);
  std::vector<std::uint32_t> some(rows.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    std::vector<NodeIndex> leaf(table.n_rows);
    apply_tree(tree_of(forest, t), table, Context(), std::span(leaf));
    for (std::size_t i = 0; i < leaf.size(); ++i) CHECK(found[i * 11 + t] == leaf[i]);
    find_leaves(forest.trees[t], table, rows, std::span(some));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(static_cast<NodeIndex>(some[i]) == leaf[rows[i]]);
    }
  }
}

TEST_CASE("a table that stores only what is not zero has the same votes and leaves") {
  const MixedProblem problem(1500);
  const Forest forest = some_forest(problem, problem.sparse(Context()), 0);
  const Ballot ballot(forest, Voting::soft, {});
  const TableView table = problem.dense_view(MixedProblem::kColumns);
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
  const ColumnView values{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                          DType::float64};
  const SparseRows sparse{table.n_rows, table.n_columns(), {start, index, values}};
  for (const int n_threads : {1, 4}) {
    CHECK(mean_votes(forest, ballot, sparse, Context(n_threads)) ==
          mean_votes(forest, ballot, table, Context()));
    CHECK(apply_forest(forest, sparse, Context(n_threads)) ==
          apply_forest(forest, table, Context()));
  }
}

TEST_CASE("votes add up by parts, and what does not fit is refused") {
  const MixedProblem problem(64);
  const Forest forest = some_forest(problem, problem.mixed(Context()), 0);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const Ballot ballot(forest, Voting::laplace, kClasses[0]);
  std::vector<double> sums(64 * 3, 0.0);
  add_votes(forest, 0, 4, ballot, table, Context(), sums);
  add_votes(forest, 4, 11, ballot, table, Context(), sums);
  for (double& x : sums) x /= 11;
  CHECK(sums == mean_votes(forest, ballot, table, Context()));

  const auto add = [&](std::size_t first, std::size_t last, const TableView& rows) {
    add_votes(forest, first, last, ballot, rows, Context(), sums);
  };
  CHECK_THROWS_AS(add(0, 12, table), Error);
  CHECK_THROWS_AS(add(2, 1, table), Error);
  CHECK_THROWS_AS(add(0, 1, problem.dense_view(MixedProblem::kColumns)), Error);
  sums.pop_back();
  CHECK_THROWS_AS(add(0, 1, table), Error);
  CHECK_THROWS_AS(mean_votes(truncated(forest, 0), ballot, table, Context()), Error);
  CHECK_THROWS_AS(Ballot(forest, Voting::hard, std::vector<std::size_t>{2}), Error);
  CHECK_THROWS_AS(Ballot(forest, Voting::hard, std::vector<std::size_t>{3, 0}), Error);
  CHECK(mean_votes(forest, ballot, TableView{0, table.columns}, Context(2)).empty());
}

TEST_CASE("votes of the first trees are those of the forest cut after them") {
  const MixedProblem problem(300);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<std::size_t> numbers{1, 2, 6, 6, 11};
  for (const int measure : {0, 3, 6}) {
    const Forest forest = some_forest(problem, problem.mixed(Context()), measure);
    const Voting voting = measure == 3 ? Voting::soft : Voting::laplace;
    const Ballot ballot(forest, voting, kClasses[measure]);
    for (const int n_threads : {1, 3}) {
      const Context context(n_threads);
      std::vector<double> expected;
      for (const std::size_t n : numbers) {
        const auto votes = mean_votes(truncated(forest, n), ballot, table, context);
        expected.insert(expected.end(), votes.begin(), votes.end());
      }
      CHECK(staged_mean_votes(forest, numbers, ballot, table, context) == expected);
    }
  }
  const Forest forest = some_forest(problem, problem.mixed(Context()), 0);
  const Ballot ballot(forest, Voting::soft, kClasses[0]);
  for (const auto& wrong : {std::vector<std::size_t>{0}, {3, 2}, {12}}) {
    CHECK_THROWS_AS(staged_mean_votes(forest, wrong, ballot, table, Context()), Error);
  }
}

TEST_CASE("a forest of a table without columns votes by its roots") {
  TreeArrays leaf;
  leaf.n_outputs = 2;
  append_node(leaf, {true, -1, 0.0, false, 0.375, 4, 4.0}, std::vector{0.25, 0.75}, -1);
  const Forest forest{0, 2, Measure::gini, {compact(leaf, Measure::gini)}};
  check_forest(forest);
  const std::vector<double> expected{0.25, 0.75, 0.25, 0.75};
  CHECK(mean_votes(forest, Ballot(forest, Voting::soft, {}), TableView{2, {}}, Context()) ==
        expected);
}

}  // namespace arboleda
