#include "learn/boosting.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "learn/cart.h"
#include "learn/custom_objective.h"
#include "learn/early_stopping.h"
#include "learn/mixed_problem.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

// Squared error as a caller would write it: gradient F - y, hessian 1.
LossDerivatives squared_error_of(const std::vector<double>& y) {
  return [&y](std::span<const double> scores, std::span<const RowIndex> rows,
              std::span<double> gradient, std::span<double> hessian) {
    for (const RowIndex row : rows) {
      gradient[row] = scores[row] - y[row];
      hessian[row] = 1.0;
    }
  };
}

std::vector<RowIndex> all_rows(std::size_t n) {
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  return rows;
}

BoostingOptions exact_options(std::int64_t n_rounds) {
  BoostingOptions options;
  options.n_rounds = n_rounds;
  options.trees = ExactGrowth{.growth = {.max_depth = 3}};
  return options;
}

// The problem of the tests: a table of numbers, gaps and categories, squared error.
struct Fitted {
  explicit Fitted(std::size_t n_rows, int n_threads = 1, std::size_t max_bins = 0)
      : problem(n_rows),
        context(n_threads, 5),
        table(problem.mixed(context, max_bins)),
        rows(all_rows(n_rows)) {
    problem.y.resize(n_rows);
  }

  Boosted boost(const BoostingOptions& options, TreeEnsemble so_far = {}) {
    CustomObjective objective(problem.n, 1, {}, squared_error_of(problem.y));
    const BoostingRows training{table, rows, {}, {}, objective};
    return arboleda::boost(training, nullptr, options, std::move(so_far), {}, context);
  }

  std::vector<double> scores(const TreeEnsemble& ensemble) const {
    std::vector<double> sum(problem.n, ensemble.start[0]), one(problem.n);
    for (const Tree& tree : ensemble.trees) {
      predict_tree(tree, problem.dense_view(MixedProblem::kDense), context, one);
      for (std::size_t i = 0; i < one.size(); ++i) sum[i] += one[i];
    }
    return sum;
  }

  MixedProblem problem;
  Context context;
  BinnedDataset table;
  std::vector<RowIndex> rows;
};

void check_same(const TreeEnsemble& a, const TreeEnsemble& b) {
  CHECK(a.start == b.start);
  REQUIRE(a.trees.size() == b.trees.size());
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    CHECK(a.trees[t].arrays().feature == b.trees[t].arrays().feature);
    CHECK(a.trees[t].arrays().threshold == b.trees[t].arrays().threshold);
    CHECK(a.trees[t].arrays().category == b.trees[t].arrays().category);
    CHECK(a.trees[t].arrays().value == b.trees[t].arrays().value);
  }
}

}  // namespace

TEST_SUITE("boosting") {
  TEST_CASE("squared error: each tree is CART on what is left, times the learning rate") {
    Fitted fit(500);
    const BoostingOptions options = exact_options(6);
    const Boosted boosted = fit.boost(options);
    REQUIRE(boosted.ensemble.n_rounds() == 6);

    std::vector<double> score(fit.problem.n), left(fit.problem.n), step(fit.problem.n);
    for (std::uint32_t t = 0; t < 6; ++t) {
      for (std::size_t i = 0; i < left.size(); ++i) left[i] = fit.problem.y[i] - score[i];
      const Tree tree =
          fit_regression_tree(fit.table, left, {}, RegressionMeasure::squared_error,
                              std::get<ExactGrowth>(options.trees).growth, fit.context);
      predict_tree(tree, fit.problem.dense_view(MixedProblem::kDense), fit.context, step);
      for (std::size_t i = 0; i < left.size(); ++i) score[i] += 0.1 * step[i];
      CHECK(boosted.ensemble.trees[t].arrays().feature == tree.arrays().feature);
      CHECK(boosted.ensemble.trees[t].arrays().threshold == tree.arrays().threshold);
    }
    const auto found = fit.scores(boosted.ensemble);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == doctest::Approx(score[i]).epsilon(1e-12));
    }
  }

  TEST_CASE("stopped and continued is never stopped, on samples of rows as well") {
    for (const double share : {1.0, 0.6}) {
      Fitted fit(400, 2);
      BoostingOptions options = exact_options(4);
      options.sampling.row_share = share;
      std::get<ExactGrowth>(options.trees).growth.max_features = 2;
      Boosted half = fit.boost(options);
      options.n_rounds = 9;
      check_same(fit.boost(options, std::move(half.ensemble)).ensemble,
                 fit.boost(options).ensemble);
    }
  }

  TEST_CASE("no number of threads changes a bit") {
    BoostingOptions options = exact_options(5);
    options.sampling.row_share = 0.5;
    const TreeEnsemble one = Fitted(5000, 1).boost(options).ensemble;
    for (const int n_threads : {2, 3, 8}) {
      check_same(Fitted(5000, n_threads).boost(options).ensemble, one);
    }
  }

  TEST_CASE("rows outside the training rows leave the trees alone") {
    Fitted fit(300);
    fit.rows.erase(fit.rows.begin() + 100, fit.rows.begin() + 200);
    const TreeEnsemble before = fit.boost(exact_options(4)).ensemble;
    for (std::size_t i = 100; i < 200; ++i) fit.problem.y[i] = 1e6 - fit.problem.y[i];
    check_same(fit.boost(exact_options(4)).ensemble, before);
  }

  TEST_CASE("rows and options that cannot be are refused") {
    Fitted fit(50);
    BoostingOptions options = exact_options(2);
    options.sampling.method = SamplingMethod::goss;
    CHECK_THROWS_AS(fit.boost(options), Error);
    Boosted two = fit.boost(exact_options(2));
    CHECK_THROWS_AS(fit.boost(exact_options(1), std::move(two.ensemble)), Error);
    fit.rows = {3, 3};
    CHECK_THROWS_AS(fit.boost(exact_options(1)), Error);
    fit.rows = {50};
    CHECK_THROWS_AS(fit.boost(exact_options(1)), Error);
    fit.rows = {};
    CHECK_THROWS_AS(fit.boost(exact_options(1)), Error);
  }

  TEST_CASE("boosting has stalled when none of the last losses beats the one before them") {
    const std::vector<double> losses{5.0, 4.0, 3.0, 2.5, 2.6, 2.5};
    CHECK(best_round(losses) == 3);
    CHECK_FALSE(has_stalled(losses, 3, 0.0));
    CHECK(has_stalled(losses, 2, 0.0));
    CHECK(has_stalled(losses, 3, 0.5));
    CHECK_FALSE(has_stalled(losses, 6, 0.0));
    CHECK_FALSE(has_stalled(std::span(losses).first(1), 1, 0.0));
  }
}

}  // namespace arboleda
