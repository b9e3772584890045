#include "learn/multi_output_cart.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"

namespace arboleda {

namespace {

struct Problem {
  std::vector<double> x;
  std::vector<double> y;              // two outputs
  std::vector<std::uint32_t> labels;  // of 3 and of 2 classes
  std::size_t n = 200;

  Problem() {
    RandomStream random(4, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < n; ++i) x.push_back(random.below(1000) * 0.1);
    for (std::size_t i = 0; i < n; ++i) y.push_back((x[i] > 50 ? 40 : 0) + random.below(50));
    for (std::size_t i = 0; i < n; ++i) y.push_back(random.below(7));
    for (std::size_t i = 0; i < n; ++i) labels.push_back(x[i] > 30 ? random.below(3) : 0);
    for (std::size_t i = 0; i < n; ++i) labels.push_back(random.below(2));
  }

  BinnedDataset table() const {
    TableView view{n, {}};
    view.columns.push_back(
        {reinterpret_cast<const std::byte*>(x.data()), sizeof(double), DType::float64});
    return code_table(view, Context());
  }
};

constexpr RegressionMeasure kRegression[] = {RegressionMeasure::squared_error,
                                             RegressionMeasure::absolute_error,
                                             RegressionMeasure::poisson};
constexpr ClassMeasure kClasses[] = {ClassMeasure::gini, ClassMeasure::entropy,
                                     ClassMeasure::misclassification};

}  // namespace

TEST_CASE("values stand output after output; the impurity of the root is the outputs' mean") {
  const Problem problem;
  const BinnedDataset table = problem.table();
  const std::span<const double> y(problem.y);
  GrowthOptions root;
  root.max_depth = 0;
  for (const auto measure : kRegression) {
    const Tree both = fit_multi_output_regression_tree(table, y, 2, {}, measure, root, Context());
    REQUIRE(both.arrays().n_outputs == 2);
    double impurity = 0;
    for (const std::size_t k : {0u, 1u}) {
      const Tree one = fit_regression_tree(table, y.subspan(k * problem.n, problem.n), {}, measure,
                                           root, Context());
      CHECK(both.value(0)[k] == doctest::Approx(one.value(0)[0]));
      impurity += one.impurity()[0] / 2;
    }
    CHECK(both.impurity()[0] == doctest::Approx(impurity));
  }
  const std::vector<std::size_t> n_classes{3, 2};
  const std::span<const std::uint32_t> labels(problem.labels);
  for (const auto measure : kClasses) {
    const Tree both = fit_multi_output_classification_tree(table, labels, n_classes, {}, measure,
                                                           root, Context());
    REQUIRE(both.arrays().n_outputs == 5);
    double impurity = 0;
    std::size_t start = 0;
    for (const std::size_t k : {0u, 1u}) {
      const Tree one = fit_classification_tree(table, labels.subspan(k * problem.n, problem.n),
                                               n_classes[k], {}, measure, root, Context());
      for (std::size_t c = 0; c < n_classes[k]; ++c) {
        CHECK(both.value(0)[start + c] == one.value(0)[c]);
      }
      start += n_classes[k];
      impurity += one.impurity()[0] / 2;
    }
    CHECK(both.impurity()[0] == doctest::Approx(impurity));
  }
}

TEST_CASE("two equal outputs make the tree of one") {
  Problem problem;
  const BinnedDataset table = problem.table();
  std::copy_n(problem.y.begin(), problem.n, problem.y.begin() + 200);
  const std::span<const double> y(problem.y);
  for (const auto measure : kRegression) {
    const Tree both = fit_multi_output_regression_tree(table, y, 2, {}, measure, {}, Context());
    const Tree one = fit_regression_tree(table, y.first(problem.n), {}, measure, {}, Context());
    CHECK(both.arrays().threshold == one.arrays().threshold);
    CHECK(both.arrays().right == one.arrays().right);
  }
}

TEST_CASE("what does not fit is refused") {
  const Problem problem;
  const BinnedDataset table = problem.table();
  const auto measure = RegressionMeasure::squared_error;
  CHECK_THROWS_AS(fit_multi_output_regression_tree(table, problem.y, 3, {}, measure, {}, Context()),
                  Error);
  CHECK_THROWS_AS(fit_multi_output_regression_tree(table, {}, 0, {}, measure, {}, Context()),
                  Error);
  const std::vector<std::size_t> n_classes{2, 2};
  CHECK_THROWS_AS(fit_multi_output_classification_tree(table, problem.labels, n_classes, {},
                                                       ClassMeasure::gini, {}, Context()),
                  Error);
}

}  // namespace arboleda
