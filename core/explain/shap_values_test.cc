#include "explain/shap_values.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "explain/naive_shapley.h"
#include "explain/quadrature.h"
#include "explain/random_ensemble.h"
#include "explain/shap_steps.h"
#include "predict/ensemble.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// What the trees pay to players that are in, the others being averaged over.
Game game_of(const AdditiveTrees& trees, const Players& players, const std::vector<double>& row) {
  return [&](std::uint32_t known) {
    AdditiveTree tree;
    double sum = 0.0;
    for (std::size_t t = 0; t < trees.n_trees(); ++t) {
      trees.read(t, tree);
      sum += conditional_mean(tree, 0, row, players.of_column, known);
    }
    return trees.in_score(sum, 0);
  };
}

}  // namespace

TEST_CASE("Gauss and Legendre's rule integrates polynomials") {
  for (std::size_t n = 1; n <= 40; ++n) {
    const Quadrature rule = gauss_legendre(n);
    CHECK(std::is_sorted(rule.point.begin(), rule.point.end()));
    for (std::size_t degree = 0; degree < 2 * n; ++degree) {
      double sum = 0.0;
      for (std::size_t q = 0; q < n; ++q) {
        sum += rule.weight[q] * std::pow(rule.point[q], static_cast<double>(degree));
      }
      CHECK(sum * static_cast<double>(degree + 1) == doctest::Approx(1.0).epsilon(1e-12));
    }
  }
}

TEST_CASE("values are Shapley's, by the definition" * doctest::test_suite("one thread")) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::size_t n_columns = 1 + seed % 7;
    const TreeEnsemble ensemble =
        random_ensemble(seed, n_columns, 2 + static_cast<int>(seed % 6), 3);
    const AdditiveTrees trees = additive(ensemble);
    Players players = one_each(n_columns);
    if (seed % 3 == 2) {  // columns that enter together
      for (auto& player : players.of_column) player /= 2;
    }
    const RandomRows rows(seed, 45, n_columns);
    const std::vector<double> found = shap_values(trees, players, rows.table(), Context());
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      const std::vector<double> row = rows.row(i);
      const auto expected = naive_shapley(game_of(trees, players, row), players.n);
      for (std::size_t p = 0; p < players.n; ++p) {
        CHECK(std::abs(found[i * players.n + p] - expected[p]) < 1e-11);
      }
    }
  }
}

TEST_CASE("values and the base add up to the score, in trees of any depth and shape") {
  for (const int depth : {1, 4, 12, 40}) {
    for (const std::size_t n_columns : {1u, 3u, 30u}) {
      const TreeEnsemble ensemble = random_ensemble(3, n_columns, depth, depth > 12 ? 1 : 4);
      const AdditiveTrees trees = additive(ensemble);
      const RandomRows rows(4, 70, n_columns);
      const auto found = shap_values(trees, one_each(n_columns), rows.table(), Context());
      const auto scores = predict_scores(ensemble, rows.table(), Context());
      const double base = expected_scores(trees)[0];
      for (std::size_t i = 0; i < rows.n_rows; ++i) {
        const double* row = found.data() + i * n_columns;
        CHECK(std::abs(std::accumulate(row, row + n_columns, base) - scores[i]) < 1e-10);
      }
    }
  }
}

TEST_CASE("a chain of thousands of nodes") {
  TreeArrays a;
  a.n_features = 3;
  a.n_outputs = 1;
  constexpr int kNodes = 20000;
  NodeIndex above = -1;
  for (int i = 0; i <= kNodes; ++i) {
    const double value = i;
    const bool last = i == kNodes;
    const NodeIndex own = append_node(
        a, {last, i % 3, i / 3 - 3000.5, false, 0.0, 1, kNodes - i + 1.0}, {&value, 1}, above);
    if (!last) append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, {&value, 1}, -1);
    above = own;
  }
  const TreeEnsemble ensemble{{0.0}, {Tree(a)}};
  const AdditiveTrees trees = additive(ensemble);
  const RandomRows rows(4, 5, 3);
  const auto found = shap_values(trees, one_each(3), rows.table(), Context());
  const auto scores = predict_scores(ensemble, rows.table(), Context());
  const double base = expected_scores(trees)[0];
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    CHECK(base + found[i * 3] + found[i * 3 + 1] + found[i * 3 + 2] ==
          doctest::Approx(scores[i]).epsilon(1e-10));
  }
}

TEST_CASE("interactions are those of the definition, symmetric, and sum to the values") {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const std::size_t n_columns = 2 + seed;
    const TreeEnsemble ensemble = random_ensemble(seed + 20, n_columns, 5, 2);
    const AdditiveTrees trees = additive(ensemble);
    Players players = one_each(n_columns);
    players.of_column[1] = seed == 3 ? 0 : 1;  // together with the first; one player is left over
    const RandomRows rows(seed, 37, n_columns);
    const auto values = shap_values(trees, players, rows.table(), Context());
    const auto found = shap_interactions(trees, players, rows.table(), Context(3));
    const std::size_t n = players.n;
    for (std::size_t row = 0; row < rows.n_rows; ++row) {
      const std::vector<double> numbers = rows.row(row);
      const auto expected = naive_interactions(game_of(trees, players, numbers), n);
      const double* own = found.data() + row * n * n;
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
          CHECK(own[i * n + j] == own[j * n + i]);
          if (i != j) CHECK(std::abs(own[i * n + j] - expected[i * n + j]) < 1e-11);
          sum += own[i * n + j];
        }
        CHECK(std::abs(sum - values[row * n + i]) < 1e-11);
      }
    }
  }
}

TEST_CASE("a column that no tree tests gets exactly 0, whatever the scale of leaves") {
  for (const double scale : {1.0, 1e300, 1e-300}) {
    TreeEnsemble ensemble = random_ensemble(5, 3, 5, 2);
    for (Tree& tree : ensemble.trees) {
      TreeArrays a = tree.arrays();
      a.n_features = 5;
      for (double& value : a.value) value *= scale;
      tree = Tree(a);
    }
    ensemble.start[0] = 0.0;
    const AdditiveTrees trees = additive(ensemble);
    const RandomRows rows(6, 40, 5);
    const auto found = shap_values(trees, one_each(5), rows.table(), Context());
    const auto scores = predict_scores(ensemble, rows.table(), Context());
    const double base = expected_scores(trees)[0];
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      CHECK(found[i * 5 + 3] == 0.0);
      CHECK(found[i * 5 + 4] == 0.0);
      const double sum = found[i * 5] + found[i * 5 + 1] + found[i * 5 + 2] + base;
      CHECK(std::abs(sum - scores[i]) / scale < 1e-12);
    }
  }
}

TEST_CASE("values have the same bits on any number of threads and at any level") {
  const TreeEnsemble ensemble = random_ensemble(7, 9, 9, 5);
  const AdditiveTrees trees = additive(ensemble);
  const RandomRows rows(8, 3000, 9);
  const auto expected = shap_values(trees, one_each(9), rows.table(), Context());
  for (const int n_threads : {2, 3, 7}) {
    CHECK(shap_values(trees, one_each(9), rows.table(), Context(n_threads)) == expected);
  }
  const auto alone =
      shap_values(trees, one_each(9), rows_between(rows.table(), 100, 101), Context());
  CHECK(std::equal(alone.begin(), alone.end(), expected.begin() + 900));
}

TEST_CASE("a walk through a tree has the same bits at every level") {
  const TestedColumns every{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}};
  const Players players = one_each(6);
  for (const int depth : {2, 5, 10}) {
    const TreeEnsemble ensemble = random_ensemble(9, 6, depth, 1);
    const AdditiveTrees trees = additive(ensemble);
    AdditiveTree tree;
    trees.read(0, tree);
    ShapSteps steps;
    steps.plan(tree, players.of_column, every.place);
    steps.set_game(tree, 0, 1.0);
    const RandomRows rows(10, kShapRows, 6);
    std::vector<double> columns;
    for (const auto& column : rows.columns) {
      columns.insert(columns.end(), column.begin(), column.end());
    }
    const Quadrature& rule = steps.quadrature();
    const std::size_t n = steps.n_levels() * kShapRows;
    std::vector<double> first;
    for (const Kernels* level : all_kernels()) {
      CAPTURE(std::string(level->level));
      std::vector<double> values(6 * kShapRows, 0.0), products(n * rule.point.size(), 7.0);
      std::vector<double> sums(n * rule.point.size(), 7.0);
      std::vector<std::int64_t> passes(n, 7), lefts(n, 7);
      level->shap.explain(steps.steps().data(), steps.steps().size(),
                          {columns.data(), values.data(), rule.point.size(), rule.weight.data(),
                           products.data(), sums.data(), passes.data(), lefts.data()});
      if (first.empty()) first = values;
      CHECK(values == first);
    }
  }
}

TEST_CASE("tables and players that are not those of the trees are refused") {
  const TreeEnsemble ensemble = random_ensemble(1, 3, 3, 1);
  const AdditiveTrees trees = additive(ensemble);
  const RandomRows rows(1, 2, 2), right(1, 2, 3);
  CHECK_THROWS_AS(shap_values(trees, one_each(3), rows.table(), Context()), Error);
  CHECK_THROWS_AS(shap_values(trees, one_each(2), right.table(), Context()), Error);
  CHECK_THROWS_AS(shap_values(trees, {{0, 1, 2}, 2}, right.table(), Context()), Error);
}

TEST_CASE("Ctrl-C ends it") {
  const TreeEnsemble ensemble = random_ensemble(1, 3, 14, 30);
  const AdditiveTrees trees = additive(ensemble);
  const RandomRows rows(1, 20000, 3);
  const Context context(1, 0, [] { return true; });
  CHECK_THROWS_AS(shap_values(trees, one_each(3), rows.table(), context), Error);
}

}  // namespace arboleda
