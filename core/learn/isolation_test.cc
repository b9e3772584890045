#include "learn/isolation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "predict/hyperplanes.h"

namespace arboleda {

namespace {

// Numbers, numbers with gaps, categories with gaps, and a constant.
std::vector<double> made_cells(std::size_t n_rows) {
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  std::vector<double> cells;
  for (std::size_t i = 0; i < n_rows; ++i) {
    const bool is_missing = random.below(5) == 0;
    cells.push_back(random.uniform());
    cells.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : random.uniform());
    cells.push_back(is_missing ? kNoCategory : random.below(4));
    cells.push_back(7.0);
  }
  return cells;
}

IsolationRows rows_of(const std::vector<double>& cells) {
  return {{cells.size() / 4, 4, [&](std::size_t row, std::size_t j) { return cells[row * 4 + j]; }},
          {0, 0, 4, 0}};
}

}  // namespace

TEST_CASE("the mean path length is that of an unsuccessful search") {
  CHECK(mean_path_length(0) == 0.0);
  CHECK(mean_path_length(1) == 0.0);
  CHECK(mean_path_length(2) == 1.0);
  for (const std::size_t n : std::vector<std::size_t>{3, 10, 256, 100000}) {
    const auto others = static_cast<double>(n - 1);
    const double h = std::log(others) + 0.5772156649015329;
    CHECK(mean_path_length(n) ==
          doctest::Approx(2.0 * h - 2.0 * others / static_cast<double>(n)).epsilon(1e-14));
  }
}

TEST_CASE("drawn rows are as many as wanted, ascending, and without replacement different") {
  std::vector<double> weights(50, 1.0);
  for (std::size_t i = 0; i < 50; i += 3) weights[i] = 0.0;
  for (const std::size_t n : std::vector<std::size_t>{1, 7, 20, 33, 50}) {
    for (const bool with_replacement : {false, true}) {
      IsolationOptions options;
      options.n_drawn = n;
      options.with_replacement = with_replacement;
      const auto rows = draw_isolated_rows(options, 50, {}, 1, 5);
      CHECK(rows.size() == n);
      CHECK(std::is_sorted(rows.begin(), rows.end()));
      if (!with_replacement) {
        CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
      }
      CHECK(rows == draw_isolated_rows(options, 50, {}, 1, 5));
      if (n < 50) CHECK(rows != draw_isolated_rows(options, 50, {}, 1, 6));
      for (const RowIndex row : draw_isolated_rows(options, 50, weights, 1, 5)) {
        CHECK(row % 3 != 0);
      }
    }
  }
}

TEST_CASE("trees are the same on several threads, and every leaf has its path length") {
  const auto cells = made_cells(90);
  const IsolationRows rows = rows_of(cells);
  IsolationOptions options;
  options.n_trees = 20;
  options.n_drawn = 64;
  const Forest forest = fit_isolation_forest(rows, options, Context(1, 9));
  const Forest other = fit_isolation_forest(rows, options, Context(4, 9));
  for (std::size_t t = 0; t < 20; ++t) {
    const Tree tree = tree_of(forest, t);
    CHECK(tree.arrays().value == tree_of(other, t).arrays().value);
    CHECK(tree.arrays().threshold == tree_of(other, t).arrays().threshold);
    CHECK(tree.depth() <= 6);
    const auto depths = tree.node_depths();
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      const auto at = static_cast<std::size_t>(node);
      if (!tree.is_leaf(node)) {
        CHECK(tree.feature(node) != 3);
        CHECK(tree.is_categorical(node) == (tree.feature(node) == 2));
        continue;
      }
      const auto n = static_cast<std::size_t>(tree.arrays().n_node_samples[at]);
      CHECK(n > 0);
      CHECK(tree.value(node)[0] == depths[at] + mean_path_length(n));
    }
  }
}

TEST_CASE("hyperplanes make trees that can be walked") {
  const auto cells = made_cells(90);
  IsolationRows rows = rows_of(cells);
  rows.n_levels.clear();
  IsolationOptions options;
  options.n_trees = 10;
  options.n_drawn = 32;
  options.n_terms = 3;
  HyperplaneForest forest = fit_hyperplane_forest(rows, options, Context(1, 9));
  check_hyperplanes(forest);
  CHECK(forest.n_trees() == 10);
  const auto means = mean_values(forest, rows.table, Context(1));
  CHECK(means == mean_values(forest, rows.table, Context(3)));
  for (const double mean : means) CHECK((mean > 0.0 && mean < 5.0 + mean_path_length(32)));
  forest.right[0] = 1;
  CHECK_THROWS_AS(check_hyperplanes(forest), Error);
}

}  // namespace arboleda
