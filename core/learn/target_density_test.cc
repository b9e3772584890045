#include "learn/target_density.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

// The definition: one weight for every row and every cell of a fine grid, y_i |y - y_i| at first.
// Targets and predictions are multiples of 1/8, so that no cell is cut by one.
class NaiveDensity {
 public:
  static constexpr std::size_t kCells = 1 << 12;

  NaiveDensity(std::vector<double> targets, const std::vector<double>& weights)
      : targets_(std::move(targets)) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      std::vector<double> of_row;
      for (std::size_t c = 0; c < kCells; ++c) {
        of_row.push_back(weights[i] * std::abs(middle(c) - targets_[i]));
      }
      weights_.push_back(std::move(of_row));
    }
    scale();
  }

  static double middle(std::size_t cell) { return (double(cell) + 0.5) / double(kCells); }
  double at(std::size_t row, std::size_t cell) const { return weights_[row][cell] * kCells; }

  double error(const std::vector<double>& predictions) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      for (std::size_t c = 0; c < kCells; ++c) {
        if (is_between(i, c, predictions[i])) sum += weights_[i][c];
      }
    }
    return sum;
  }

  void reweigh(const std::vector<double>& predictions, double factor) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      for (std::size_t c = 0; c < kCells; ++c) {
        if (!is_between(i, c, predictions[i])) weights_[i][c] *= factor;
      }
    }
    scale();
  }

 private:
  bool is_between(std::size_t row, std::size_t cell, double prediction) const {
    const double y = middle(cell);
    return y > std::min(targets_[row], prediction) && y < std::max(targets_[row], prediction);
  }

  void scale() {
    double total = 0.0;
    for (const auto& row : weights_) {
      for (const double w : row) total += w;
    }
    for (auto& row : weights_) {
      for (double& w : row) w /= total;
    }
  }

  std::vector<double> targets_;
  std::vector<std::vector<double>> weights_;
};

struct Problem {
  explicit Problem(std::size_t n_rows) : random(5, Purpose::feature_subset, 0, 0) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      targets.push_back(random.below(9) / 8.0);
      weights.push_back(random.below(5));
    }
    weights[0] = 1.0;
  }

  std::vector<double> predictions() {
    std::vector<double> found;
    for (std::size_t i = 0; i < targets.size(); ++i) found.push_back(random.below(9) / 8.0);
    return found;
  }

  RandomStream random;
  std::vector<double> targets, weights;
};

}  // namespace

TEST_CASE("a density between steps has the integrals of a sum over a fine grid") {
  Problem problem(23);
  TargetDensity density(problem.targets, problem.weights);
  NaiveDensity naive(problem.targets, problem.weights);
  for (int round = 0; round < 12; ++round) {
    const auto predictions = problem.predictions();
    CHECK(density.error(predictions, Context()) ==
          doctest::Approx(naive.error(predictions)).epsilon(1e-6));
    for (std::size_t i = 0; i < problem.targets.size(); ++i) {
      for (std::size_t c = 3; c < NaiveDensity::kCells; c += 311) {
        CHECK(density.at(i, NaiveDensity::middle(c)) ==
              doctest::Approx(naive.at(i, c)).epsilon(1e-6));
      }
    }
    // Twice the same predictions: a step of no width.
    for (int again = 0; again < 1 + round % 2; ++again) {
      density.reweigh(predictions, 0.25 + 0.05 * round, Context());
      naive.reweigh(predictions, 0.25 + 0.05 * round);
    }
  }
}

TEST_CASE("the weights of rows give |y - y_i| the mass of their density") {
  Problem problem(17);
  TargetDensity density(problem.targets, problem.weights);
  const double total = [&] {
    double sum = 0.0;
    const auto u = density.row_weights();
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double y = problem.targets[i];
      sum += u[i] * 0.5 * (y * y + (1 - y) * (1 - y));
      CHECK(u[i] / u[0] == doctest::Approx(problem.weights[i]));  // in the first round
    }
    return sum;
  }();
  CHECK(total == doctest::Approx(1.0));
}

TEST_CASE("reweighing leaves a round's own predictions an error of one half") {
  Problem problem(40);
  TargetDensity density(problem.targets, problem.weights);
  for (int round = 0; round < 5; ++round) {
    const auto predictions = problem.predictions();
    const double error = density.error(predictions, Context());
    if (error >= 0.5) continue;
    density.reweigh(predictions, error / (1 - error), Context());
    CHECK(density.error(predictions, Context()) == doctest::Approx(0.5));
  }
}

TEST_CASE("the prediction of a leaf has the least error of all possible ones") {
  Problem problem(60);
  TargetDensity density(problem.targets, problem.weights);
  std::vector<std::uint32_t> leaf;
  for (std::size_t i = 0; i < 60; ++i) leaf.push_back(problem.random.below(3));
  for (int round = 0; round < 10; ++round) {
    const auto best = density.best_predictions(leaf, 3, Context(1 + round % 2));
    const auto error_with = [&](std::size_t k, double prediction) {
      auto predictions = problem.targets;  // without error
      for (std::size_t i = 0; i < 60; ++i) {
        if (leaf[i] == k) predictions[i] = prediction;
      }
      return density.error(predictions, Context());
    };
    for (std::size_t k = 0; k < 3; ++k) {
      const double least = error_with(k, best[k]);
      for (int v = 0; v <= 4096; ++v) CHECK(least <= error_with(k, v / 4096.0) + 1e-12);
    }
    density.reweigh(problem.predictions(), 0.4, Context());
  }
}

TEST_CASE("the first best prediction of a leaf is the weighted mean of its targets") {
  Problem problem(30);
  const TargetDensity density(problem.targets, problem.weights);
  const std::vector<std::uint32_t> leaf(30, 0);
  double sum = 0.0, weight = 0.0;
  for (std::size_t i = 0; i < 30; ++i) {
    sum += problem.weights[i] * problem.targets[i];
    weight += problem.weights[i];
  }
  CHECK(density.best_predictions(leaf, 1, Context())[0] == doctest::Approx(sum / weight));
}

TEST_CASE("densities do not depend on the number of threads") {
  Problem problem(5000);
  TargetDensity one(problem.targets, problem.weights), three(problem.targets, problem.weights);
  for (int round = 0; round < 3; ++round) {
    const auto predictions = problem.predictions();
    CHECK(one.error(predictions, Context(1)) == three.error(predictions, Context(3)));
    one.reweigh(predictions, 0.5, Context(1));
    three.reweigh(predictions, 0.5, Context(3));
  }
  CHECK(one.row_weights() == three.row_weights());
}

TEST_CASE("densities refuse what lies beyond 0 and 1") {
  const std::vector<double> targets{0.0, 0.5};
  CHECK_THROWS_AS(TargetDensity(std::vector{0.0, 1.5}, {}), Error);
  CHECK_THROWS_AS(TargetDensity(targets, std::vector{0.0, 0.0}), Error);
  CHECK_THROWS_AS(TargetDensity(targets, std::vector{1.0, -1.0}), Error);
  TargetDensity density(targets, {});
  CHECK_THROWS_AS(density.error(std::vector{0.0, -0.5}, Context()), Error);
  CHECK_THROWS_AS(density.error(std::vector{0.0}, Context()), Error);
  CHECK_THROWS_AS(density.reweigh(targets, 0.0, Context()), Error);  // nothing would be left
  CHECK_THROWS_AS(density.best_predictions(std::vector<std::uint32_t>{0, 1}, 1, Context()), Error);
}

}  // namespace arboleda
