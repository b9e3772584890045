#include "learn/linear_leaves.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "grow/histogram_grower.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

// Three columns and a tree with one leaf for each half of column 0; all rows are in its leaves.
struct OneSplit {
  explicit OneSplit(std::vector<std::vector<double>> columns) : x(std::move(columns)) {
    const std::size_t n = x[0].size();
    TableView view{n, {}};
    for (const auto& column : x) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(column.data()), sizeof(double), DType::float64});
    }
    table = code_table(view, context);
    tree.n_features = static_cast<FeatureIndex>(x.size());
    tree.n_outputs = 1;
    const std::vector<double> zero{0.0};
    append_node(tree, {false, 0, 0.5, false, 1.0, 2, 2.0}, zero, -1);
    append_node(tree, {true, -1, 0.0, false, 0.0, 1, 1.0}, zero, -1);
    append_node(tree, {true, -1, 0.0, false, 0.0, 1, 1.0}, zero, 0);
    for (const bool right : {false, true}) {
      const std::size_t begin = leaves.rows.size();
      for (std::size_t i = 0; i < n; ++i) {
        if ((x[0][i] <= 0.5) != right) leaves.rows.push_back(static_cast<RowIndex>(i));
      }
      leaves.leaves.push_back({.node = right ? 2 : 1, .begin = begin, .end = leaves.rows.size()});
    }
  }

  LinearLeaves fit(std::span<const double> gradient, std::span<const double> hessian,
                   double l2 = 0.0, double slope_l2 = 0.0) const {
    return fit_linear_leaves(table, tree, leaves, gradient, hessian, l2, slope_l2, context);
  }

  Context context;
  std::vector<std::vector<double>> x;
  BinnedDataset table;
  TreeArrays tree;
  LeafRows leaves;
};

}  // namespace

TEST_SUITE("linear leaves") {
  TEST_CASE("a slope by hand: x = 1 .. 8, gradient -x, hessian 1") {
    const OneSplit one({{1, 2, 3, 4, 5, 6, 7, 8}});
    const std::vector<double> gradient{-1, -2, -3, -4, -5, -6, -7, -8};
    // z = (x - 4.5) / 7: sum of squares 42 / 49; with slope_l2 = 6 / 7 the slope is halved.
    const LinearLeaves leaves = one.fit(gradient, {}, 0.0, 6.0 / 7.0);
    REQUIRE(leaves.feature == std::vector<FeatureIndex>{0});
    CHECK(leaves.start == std::vector<std::int64_t>{0, 0, 0, 1});
    CHECK(leaves.coefficient[0] == doctest::Approx(0.5));
    CHECK(leaves.intercept[2] == doctest::Approx(4.5 - 0.5 * 3.5));
    CHECK(leaves.low[0] == 1.0);
    CHECK(leaves.high[0] == 8.0);
    // l2 = 8 halves the value at the mean, and leaves the slope alone.
    const LinearLeaves lower = one.fit(gradient, {}, 8.0, 0.0);
    CHECK(lower.coefficient[0] == doctest::Approx(1.0));
    CHECK(lower.intercept[2] == doctest::Approx(2.25 - 3.5));
  }

  TEST_CASE("rows that lack the value take no part") {
    const double nan = std::nan("");
    const OneSplit one({{1, 2, nan, 3, 4, 5, nan, 6}});
    const std::vector<double> gradient{-1, -2, 99, -3, -4, -5, 1e6, -6};
    const LinearLeaves leaves = one.fit(gradient, {});
    REQUIRE(leaves.feature.size() == 1);
    CHECK(leaves.coefficient[0] == doctest::Approx(1.0));
    CHECK(leaves.intercept[2] == doctest::Approx(1.0));
  }

  TEST_CASE("leaves stay constant where no slope can be estimated") {
    const std::vector<double> g{-1, -2, -3, -4, -5, -6};
    CHECK(OneSplit({{2, 2, 2, 2, 2, 2}}).fit(g, {}).empty());                // no column varies
    CHECK(OneSplit({{1, 2, 3, 4}}).fit(std::span(g).first(4), {}).empty());  // too few rows
    CHECK(OneSplit({{1, 2, 3, 4, 5, 6}}).fit(g, std::vector<double>(6)).empty());  // flat loss
    const std::vector<double> infinite{-1, -2, -3, HUGE_VAL, -5, -6};
    CHECK(OneSplit({{1, 2, 3, 4, 5, 6}}).fit(infinite, {}).empty());
  }

  TEST_CASE("sparse tables keep no values") {
    const MixedProblem problem(400);
    const Context context;
    const BinnedDataset table = problem.sparse(context);
    const std::vector<double> gradient(problem.y.begin(), problem.y.begin() + 400);
    std::vector<RowIndex> rows;
    for (RowIndex i = 0; i < 400; ++i) rows.push_back(i);
    HistogramGrower grower(table, make_row_codes(table, context), {.max_leaf_nodes = 8}, context);
    LeafRows leaves;
    const TreeArrays tree = grower.grow(rows, {gradient, {}}, 0, leaves);
    REQUIRE(tree.right.size() > 1);
    CHECK_THROWS_AS(fit_linear_leaves(table, tree, leaves, gradient, {}, 0.0, 1.0, context), Error);
  }

  TEST_CASE("no number of threads changes a bit") {
    const MixedProblem problem(3000);
    const BinnedDataset table = problem.mixed(Context(), 255);
    const std::vector<double> gradient(problem.y.begin(), problem.y.begin() + 3000);
    std::vector<RowIndex> rows;
    for (RowIndex i = 0; i < 3000; ++i) rows.push_back(i);
    LinearLeaves one;
    for (const int n_threads : {1, 2, 3, 8}) {
      const Context context(n_threads, 0);
      HistogramGrower grower(table, make_row_codes(table, context), {.max_leaf_nodes = 31},
                             context);
      LeafRows leaves;
      const TreeArrays tree = grower.grow(rows, {gradient, problem.weights}, 0, leaves);
      const LinearLeaves found =
          fit_linear_leaves(table, tree, leaves, gradient, problem.weights, 0.5, 1.0, context);
      if (n_threads == 1) one = found;
      REQUIRE_FALSE(found.empty());
      CHECK(found.coefficient == one.coefficient);
      CHECK(found.intercept == one.intercept);
      CHECK(found.feature == one.feature);
      for (const FeatureIndex feature : found.feature) CHECK(feature != 3);  // of categories
    }
  }
}

}  // namespace arboleda
