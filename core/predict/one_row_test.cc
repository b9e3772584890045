#include "predict/one_row.h"

#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "explain/random_ensemble.h"
#include "predict/ensemble.h"
#include "predict/forest.h"
#include "predict/predict.h"
#include "predict/weighted_median.h"

namespace arboleda {

namespace {

// Column j of row i by itself, as a caller would give it.
void check_same(const OneRow& model, const RandomRows& rows, const std::vector<double>& expected) {
  const std::size_t k = model.n_outputs();
  REQUIRE(expected.size() == rows.n_rows * k);
  std::vector<double> predict(k);
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    model.predict(rows.row(i).data(), predict.data());
    CHECK(std::memcmp(predict.data(), &expected[i * k], k * sizeof(double)) == 0);
  }
}

// More trees than are walked at once, and no whole number of lanes.
TreeEnsemble some_ensemble(std::size_t n_outputs) {
  TreeEnsemble ensemble = random_ensemble(3, 6, 7, 3 * 25);
  ensemble.start.assign(n_outputs, 0.25);
  return ensemble;
}

Forest some_forest(const std::vector<Tree>& trees) {
  std::vector<const Tree*> pointers;
  for (const Tree& tree : trees) pointers.push_back(&tree);
  return forest_of(pointers, Measure::medians);
}

}  // namespace

TEST_CASE("one row gets the bits that a table gets, whatever the model") {
  const RandomRows rows(5, 40, 6);
  const TableView table = rows.table();
  const Context context;
  for (const std::size_t n_outputs : {1, 3}) {
    const TreeEnsemble ensemble = some_ensemble(n_outputs);
    check_same(*one_row_of(ensemble, 6), rows, predict_scores(ensemble, table, context));
  }
  const TreeEnsemble ensemble = some_ensemble(1);
  for (const Tree& tree : {ensemble.trees[0], random_split_tree(1, 6, 0)}) {
    std::vector<double> values(rows.n_rows);
    predict_tree(tree, table, context, std::span(values));
    check_same(*one_row_of(tree), rows, values);
  }
  const Forest forest = some_forest(ensemble.trees);
  const Ballot ballot(forest, Voting::soft, {});
  check_same(*one_row_of(forest, ballot), rows, mean_votes(forest, ballot, table, context));

  std::vector<double> weights;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) weights.push_back(double(t % 4));
  check_same(*one_row_of(forest, weights), rows, median_values(forest, weights, table, context));
}

TEST_CASE("numbers alone, linear leaves, and an ensemble without trees") {
  const Context context;
  const RandomRows rows(6, 30, 1);  // one column, of numbers: trees without categories
  TreeEnsemble ensemble = random_ensemble(4, 1, 5, 21);
  check_same(*one_row_of(ensemble, 1), rows, predict_scores(ensemble, rows.table(), context));

  LinearLeaves& linear = ensemble.linear;
  linear.start.push_back(0);
  for (const Tree& tree : ensemble.trees) {
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      const bool has_term = tree.is_leaf(node) && node % 2 == 0;
      linear.intercept.push_back(has_term ? 0.5 : 0.0);
      if (has_term) {
        linear.feature.push_back(0);
        linear.coefficient.push_back(1.5);
        linear.low.push_back(-1.0);
        linear.high.push_back(1.0);
      }
      linear.start.push_back(static_cast<std::int64_t>(linear.feature.size()));
    }
  }
  check_ensemble(ensemble);
  check_same(*one_row_of(ensemble, 1), rows, predict_scores(ensemble, rows.table(), context));

  const TreeEnsemble none{{0.5, -0.5}, {}};
  check_same(*one_row_of(none, 1), rows, predict_scores(none, rows.table(), context));
}

TEST_CASE("models that cannot predict are refused") {
  const TreeEnsemble ensemble = some_ensemble(1);
  CHECK_THROWS_AS(one_row_of(ensemble, 5), Error);
  const Forest forest = some_forest(ensemble.trees);
  CHECK_THROWS_AS(one_row_of(forest, {1.0}), Error);
  CHECK_THROWS_AS(one_row_of(forest, std::vector<double>(forest.trees.size(), -1.0)), Error);
  const Forest empty{6, 1, Measure::medians, {}};
  CHECK_THROWS_AS(one_row_of(empty, std::vector<double>{}), Error);
}

}  // namespace arboleda
