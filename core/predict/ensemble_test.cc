#include "predict/ensemble.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <thread>

#include "learn/mixed_problem.h"
#include "predict/one_row.h"
#include "predict/predict.h"
#include "predict/round_walks.h"

namespace arboleda {

namespace {

// Trees of depth up to nine that split by every kind of column, missing values on either side, and
// one that is a leaf alone; `columns`: of the table they were fitted on.
std::vector<Tree> some_trees(const MixedProblem& problem, const BinnedDataset& table) {
  const Context context;
  std::vector<Tree> trees;
  for (int i = 0; i < 12; ++i) {
    GrowthOptions options;
    options.max_depth = i % 4 == 3 ? 0 : 3 + i % 7;
    options.random_splits = i % 2 == 1;
    trees.push_back(problem.fit(table, 3, i % 3 == 1, options, Context(1, std::uint64_t(i))));
  }
  return trees;
}

// Row by row and tree by tree, by the tree's own walk.
template <class Table>
std::vector<double> naive_scores(const TreeEnsemble& ensemble, const Table& table,
                                 std::size_t first_tree = 0) {
  const std::size_t k = ensemble.n_outputs();
  std::vector<double> scores(table.n_rows * k);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    for (std::size_t i = 0; i < k; ++i) scores[row * k + i] = ensemble.start[i];
    for (std::size_t t = first_tree; t < ensemble.trees.size(); ++t) {
      const Tree& tree = ensemble.trees[t];
      NodeIndex node = 0;
      while (!tree.is_leaf(node)) {
        node = tree.child(node, table.at(row, static_cast<std::size_t>(tree.feature(node))));
      }
      scores[row * k + t % k] += tree.value(node)[0];
    }
  }
  return scores;
}

struct Stored {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> index;
  std::vector<double> data;
};

Stored rows_of(const TableView& table) {
  Stored rows;
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    for (std::size_t j = 0; j < table.n_columns(); ++j) {
      if (table.at(i, j) == 0.0) continue;
      rows.index.push_back(static_cast<std::int32_t>(j));
      rows.data.push_back(table.at(i, j));
    }
    rows.start.push_back(static_cast<std::int64_t>(rows.index.size()));
  }
  return rows;
}

}  // namespace

TEST_CASE("scores are start and leaf values, added in order, for any number of threads") {
  const MixedProblem problem(3011);
  const BinnedDataset coded = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  for (const std::vector<double>& start : {std::vector<double>{0.1}, {0.1, -2.0, 1e9}}) {
    const TreeEnsemble ensemble{start, some_trees(problem, coded)};
    check_ensemble(ensemble);
    const std::vector<double> expected = naive_scores(ensemble, table);
    for (const int n_threads : {1, 2, 3, 8}) {
      CHECK(predict_scores(ensemble, table, Context(n_threads)) == expected);
    }
    std::vector<double> staged(expected.size());
    for (std::size_t i = 0; i < staged.size(); ++i) staged[i] = start[i % start.size()];
    for (std::size_t round = 0; round < ensemble.n_rounds(); ++round) {
      add_scores(ensemble, round, round + 1, table, Context(2), staged);
    }
    CHECK(staged == expected);
    const TreeEnsemble part = truncated(ensemble, 2);
    CHECK(predict_scores(part, table, Context()) == naive_scores(part, table));
    CHECK(predict_scores(extended(part, part), table, Context()) ==
          naive_scores(extended(part, part), table));
  }
}

TEST_CASE("trees of the same splits in a round have the scores of separate walks") {
  const MixedProblem problem(3011);
  const BinnedDataset coded_table = problem.mixed(Context());
  const TableView table = problem.dense_view(MixedProblem::kDense);
  TreeEnsemble ensemble{{0.1, -2.0, 1e9, 0.0, 5.0}, {}};
  for (const Tree& tree : some_trees(problem, coded_table)) {
    if (tree.n_nodes() >= 2 * CodedTrees::kMostLeaves) continue;
    for (std::size_t k = 0; k < ensemble.n_outputs(); ++k) {
      TreeArrays arrays = tree.arrays();
      for (double& value : arrays.value) value = value / (3.0 + double(k)) - double(k);
      ensemble.trees.emplace_back(std::move(arrays));
    }
  }
  check_ensemble(ensemble);
  REQUIRE(ensemble.n_rounds() > 4);
  REQUIRE(RoundWalks(ensemble, 0, ensemble.n_rounds()).trees().size() == ensemble.n_rounds());
  const auto check = [&](const TreeEnsemble& some, std::size_t trees_a_round) {
    const std::vector<double> expected = naive_scores(some, table);
    REQUIRE(CodedEnsemble::can_hold(some));
    const CodedEnsemble coded(some);
    CHECK(coded.trees_a_round() == trees_a_round);
    for (const int n_threads : {1, 3}) {
      CHECK(predict_scores(some, table, Context(n_threads)) == expected);
      CHECK(predict_scores(some, table, Context(n_threads), &coded) == expected);
    }
    std::vector<double> staged(expected.size());
    for (std::size_t i = 0; i < staged.size(); ++i) staged[i] = some.start[i % 5];
    for (std::size_t round = 0; round < some.n_rounds(); ++round) {
      add_scores(some, round, round + 1, table, Context(2), staged, &coded);
    }
    CHECK(staged == expected);
    const auto one = one_row_of(some, MixedProblem::kDense);
    std::vector<double> row(MixedProblem::kDense), scores(5);
    for (std::size_t i = 0; i < problem.n; i += 7) {
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = table.at(i, j);
      one->predict(row.data(), scores.data());
      for (std::size_t k = 0; k < 5; ++k) REQUIRE(scores[k] == expected[i * 5 + k]);
    }
  };
  check(ensemble, 1);
  // One other test in the last tree that has any: every tree is walked.
  std::size_t last = ensemble.trees.size() - 1;
  while (ensemble.trees[last].n_nodes() == 1) last -= ensemble.n_outputs();
  TreeArrays other = ensemble.trees[last].arrays();
  other.missing_left[0] = 1 - other.missing_left[0];
  ensemble.trees[last] = Tree(std::move(other));
  check(ensemble, 5);
}

TEST_CASE("a mean of ensembles has the mean of their scores, stage by stage") {
  const MixedProblem problem(501);
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<Tree> trees = some_trees(problem, problem.mixed(Context()));
  const TreeEnsemble whole{{0.5, -1.0, 2.0}, trees};
  const TreeEnsemble other{{1.5, 0.0, 1.0}, {trees.rbegin(), trees.rend()}};
  const TreeEnsemble both = mean_of(std::vector{whole, truncated(other, 2)});
  REQUIRE(both.n_rounds() == whole.n_rounds() + 2);
  const auto is_mean = [&](std::size_t n_rounds, std::size_t n_whole, std::size_t n_other) {
    const auto found = predict_scores(truncated(both, n_rounds), table, Context());
    const auto a = predict_scores(truncated(whole, n_whole), table, Context());
    const auto b = predict_scores(truncated(other, n_other), table, Context());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == doctest::Approx((a[i] + b[i]) / 2).epsilon(1e-12));
    }
  };
  is_mean(2, 1, 1);
  is_mean(4, 2, 2);
  is_mean(both.n_rounds(), whole.n_rounds(), 2);
  CHECK_THROWS_AS(mean_of({}), Error);
  CHECK_THROWS_AS(mean_of(std::vector{whole, TreeEnsemble{{0.0}, trees}}), Error);
}

TEST_CASE("a table that stores only what is not zero has the same scores and leaves") {
  const MixedProblem problem(1500);
  const TreeEnsemble ensemble{{0.5}, some_trees(problem, problem.sparse(Context()))};
  const TableView table = problem.dense_view(MixedProblem::kColumns);
  const Stored stored = rows_of(table);
  const ColumnView data{reinterpret_cast<const std::byte*>(stored.data.data()), sizeof(double),
                        DType::float64};
  const SparseRows sparse{problem.n, MixedProblem::kColumns, {stored.start, stored.index, data}};
  CHECK(predict_scores(ensemble, sparse, Context(2)) == naive_scores(ensemble, table));
  CHECK(apply_ensemble(ensemble, sparse, Context(2)) == apply_ensemble(ensemble, table, Context()));
}

TEST_CASE("a tree that tests thousands of columns has the scores of its walk") {
  constexpr FeatureIndex kColumns = 3000;
  constexpr std::size_t kRows = 101;
  TreeArrays a;
  a.n_features = kColumns;
  a.n_outputs = 1;
  NodeIndex right_of = -1;
  for (FeatureIndex j = 0; j < kColumns; ++j) {
    const std::vector<double> value{1.0 * j};
    right_of = append_node(a, {false, j, -2.5, j % 2 == 0, 0.0, 2, 2.0}, value, right_of);
    append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, value, -1);
  }
  append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, std::vector<double>{-1.0}, right_of);
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  std::vector<double> values(kRows * kColumns);
  for (double& x : values) x = random.below(4000) / 4000.0 * 1000 - 3;
  for (std::size_t i = 0; i < values.size(); i += 997) values[i] = std::nan("");
  TableView table{kRows, {}};
  for (std::size_t j = 0; j < kColumns; ++j) {
    table.columns.push_back({reinterpret_cast<const std::byte*>(values.data() + j * kRows),
                             sizeof(double), DType::float64});
  }
  const Tree tree(std::move(a));
  const TreeEnsemble ensemble{{0.5}, {tree, tree}};
  const std::vector<double> expected = naive_scores(ensemble, table);
  CHECK(std::set<double>(expected.begin(), expected.end()).size() > 50);
  CHECK(predict_scores(ensemble, table, Context(2)) == expected);
}

TEST_CASE("eight callers of one ensemble get what each gets alone") {
  const MixedProblem problem(2100);
  const TreeEnsemble ensemble{{0.5}, some_trees(problem, problem.mixed(Context()))};
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<double> expected = predict_scores(ensemble, table, Context());
  std::vector<std::vector<double>> found(8);
  std::vector<std::thread> callers;
  for (auto& scores : found) {
    callers.emplace_back([&] { scores = predict_scores(ensemble, table, Context(3)); });
  }
  for (auto& caller : callers) caller.join();
  for (const auto& scores : found) CHECK(scores == expected);
}

TEST_CASE("leaves are those of each tree alone") {
  const MixedProblem problem(700);
  const TreeEnsemble ensemble{{0.0, 0.0}, some_trees(problem, problem.mixed(Context()))};
  const TableView table = problem.dense_view(MixedProblem::kDense);
  const std::vector<NodeIndex> leaves = apply_ensemble(ensemble, table, Context(2));
  std::vector<NodeIndex> alone(problem.n);
  for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
    apply_tree(ensemble.trees[t], table, Context(), alone);
    for (std::size_t row = 0; row < problem.n; ++row) {
      REQUIRE(leaves[row * ensemble.trees.size() + t] == alone[row]);
    }
  }
}

TEST_CASE("without rows, rounds or columns the scores are the start") {
  const MixedProblem problem(50);
  const TreeEnsemble none{{1.5, 2.5}, {}};
  TableView table = problem.dense_view(MixedProblem::kDense);
  CHECK(predict_scores(none, table, Context())[99] == 2.5);
  CHECK(apply_ensemble(none, table, Context()).empty());
  CHECK(impurity_importances(none).empty());
  table.n_rows = 0;
  const TreeEnsemble some{{1.5}, some_trees(problem, problem.mixed(Context()))};
  CHECK(predict_scores(some, table, Context(4)).empty());
  table.columns.pop_back();
  CHECK_THROWS_AS(predict_scores(some, table, Context()), Error);
  std::vector<double> scores(50);
  CHECK_THROWS_AS(add_scores(some, 0, 13, problem.dense_view(4), Context(), scores), Error);
  CHECK_THROWS_AS(add_scores(some, 2, 1, problem.dense_view(4), Context(), scores), Error);
  scores.pop_back();
  CHECK_THROWS_AS(add_scores(some, 0, 1, problem.dense_view(4), Context(), scores), Error);
}

TEST_CASE("an invalid ensemble is refused") {
  const MixedProblem problem(100);
  const Context context;
  const std::vector<Tree> trees = some_trees(problem, problem.mixed(context));
  const auto refused = [](const TreeEnsemble& ensemble) {
    CHECK_THROWS_AS(check_ensemble(ensemble), Error);
  };
  refused({{}, trees});
  refused({{0.0, std::numeric_limits<double>::infinity()}, trees});
  refused({std::vector<double>(5), trees});  // twelve trees
  refused({{0.0}, {trees[0], problem.fit(problem.mixed(context), 9, false, {}, context)}});
  refused({{0.0}, {trees[0], problem.fit(problem.sparse(context), 3, false, {}, context)}});
  CHECK_THROWS_AS(truncated({{0.0}, trees}, 13), Error);
  CHECK_THROWS_AS(extended({{0.0}, trees}, {{0.0, 0.0}, trees}), Error);
}

TEST_CASE("importances are sums over the trees, of impurities by their exponents") {
  const auto tree_of = [](FeatureIndex feature, double impurity, std::int32_t exponent) {
    TreeArrays a;
    a.n_features = 3;
    a.n_outputs = 1;
    a.impurity_exponent = exponent;
    const std::vector<double> value{0.0};
    append_node(a, {false, feature, 0.0, false, impurity, 4, 4.0}, value, -1);
    append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, value, -1);
    append_node(a, {true, -1, 0.0, false, impurity / 2, 2, 2.0}, value, 0);
    return Tree(std::move(a));
  };
  TreeEnsemble ensemble{{0.0}, {tree_of(0, 1.0, 0), tree_of(2, 0.5, 1), tree_of(2, 2.0, 0)}};
  CHECK(impurity_importances(ensemble) == std::vector<double>{0.25, 0.0, 0.75});
  CHECK(gain_importances(ensemble) == std::vector<double>{0.25, 0.0, 0.75});
  ensemble.trees.push_back(tree_of(1, 1e300, 2000));  // beyond float64, and beyond all others
  CHECK(gain_importances(ensemble) == std::vector<double>{0.0, 1.0, 0.0});
}

}  // namespace arboleda
