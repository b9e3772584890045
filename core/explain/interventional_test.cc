#include "explain/interventional.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "explain/naive_shapley.h"
#include "explain/random_ensemble.h"
#include "predict/ensemble.h"

namespace arboleda {

namespace {

double score_of(const AdditiveTrees& trees, const std::vector<double>& row) {
  AdditiveTree tree;
  double sum = 0.0;
  for (std::size_t t = 0; t < trees.n_trees(); ++t) {
    trees.read(t, tree);
    std::size_t node = 0;
    while (!tree.nodes[node].is_leaf()) {
      node = tree.child(node, row[static_cast<std::size_t>(tree.nodes[node].feature)]);
    }
    sum += tree.value_of(node, 0);
  }
  return trees.in_score(sum, 0);
}

// Players who are not in take the values of background rows.
Game game_against(const AdditiveTrees& trees, const Players& players,
                  const std::vector<double>& row, const RandomRows& background) {
  return [&](std::uint32_t known) {
    double sum = 0.0;
    for (std::size_t b = 0; b < background.n_rows; ++b) {
      std::vector<double> mixed = background.row(b);
      for (std::size_t j = 0; j < mixed.size(); ++j) {
        if ((known >> players.of_column[j] & 1) != 0) mixed[j] = row[j];
      }
      sum += score_of(trees, mixed);
    }
    return sum / static_cast<double>(background.n_rows);
  };
}

}  // namespace

TEST_CASE("values against a background are Shapley's, by the definition" *
          doctest::test_suite("one thread")) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::size_t n_columns = 1 + seed % 6;
    const TreeEnsemble ensemble =
        random_ensemble(seed + 50, n_columns, 1 + static_cast<int>(seed), 2);
    const AdditiveTrees trees = additive(ensemble);
    Players players = one_each(n_columns);
    if (seed % 3 == 2) {
      for (auto& player : players.of_column) player /= 2;
    }
    const RandomRows rows(seed, 20, n_columns), background(seed + 9, 1 + seed * 10, n_columns);
    const AgainstBackground found =
        shap_values_against(trees, players, rows.table(), background.table(), Context());
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      const std::vector<double> row = rows.row(i);
      const auto expected = naive_shapley(game_against(trees, players, row, background), players.n);
      for (std::size_t p = 0; p < players.n; ++p) {
        CHECK(std::abs(found.values[i * players.n + p] - expected[p]) < 1e-11);
      }
    }
  }
}

TEST_CASE("values against a background do not depend on the number of threads") {
  const TreeEnsemble ensemble = random_ensemble(50, 6, 5, 2);
  const AdditiveTrees trees = additive(ensemble);
  const RandomRows rows(1, 40, 6), background(10, 70, 6);
  const auto values_on = [&](int n_threads) {
    return shap_values_against(trees, one_each(6), rows.table(), background.table(),
                               Context(n_threads))
        .values;
  };
  CHECK(values_on(2) == values_on(1));
  CHECK(values_on(3) == values_on(1));
}

TEST_CASE("values against a background and their base add up, in large trees") {
  for (const std::size_t n_rows : {1u, 64u, 65u, 130u}) {
    const TreeEnsemble ensemble = random_ensemble(3, 12, 25, 2);
    const AdditiveTrees trees = additive(ensemble);
    const RandomRows rows(4, 30, 12), background(5, n_rows, 12);
    const auto found =
        shap_values_against(trees, one_each(12), rows.table(), background.table(), Context());
    const auto scores = predict_scores(ensemble, rows.table(), Context());
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      const double* row = found.values.data() + i * 12;
      CHECK(std::abs(std::accumulate(row, row + 12, found.base[0]) - scores[i]) < 1e-10);
    }
  }
}

TEST_CASE("no background is refused") {
  const TreeEnsemble ensemble = random_ensemble(3, 2, 3, 1);
  const RandomRows rows(4, 3, 2), none(4, 0, 2);
  CHECK_THROWS_AS(
      shap_values_against(additive(ensemble), one_each(2), rows.table(), none.table(), Context()),
      Error);
}

}  // namespace arboleda
