// Losses whose scores are parameters of distributions, from their definitions: the natural gradient from numerical
// derivatives of the loss, and its metric as an expectation over y, by sums or integrals.
#include "objective/distribution_objective.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "objective/special_functions.h"

namespace arboleda {

namespace {

using Theta = std::vector<double>;

struct Case {
  std::string name, score;
  std::vector<Theta> thetas;
  std::vector<double> targets;
  bool is_count = false;
  bool is_of_logarithms = false;
};

std::vector<Case> all_cases() {
  const std::vector<Theta> real = {{0.3, -0.4}, {-1.0, 0.8}}, positive = {{0.5, 0.7}, {-0.4, -1.0}};
  const std::vector<double> reals = {-1.7, -0.2, 0.31, 2.4}, sizes = {0.05, 0.8, 2.0, 7.5};
  const std::vector<double> counts = {0.0, 1.0, 2.0, 6.0};
  return {{"normal", "nll", real, reals},
          {"normal", "crps", real, reals},
          {"lognormal", "nll", real, sizes, false, true},
          {"lognormal", "crps", real, sizes, false, true},
          {"laplace", "nll", real, reals},
          {"laplace", "crps", real, reals},
          {"student_t", "nll", {{0.3, -0.4, 1.2}, {-1.0, 0.8, 2.5}}, reals},
          {"gamma", "nll", positive, sizes},
          {"poisson", "nll", {{0.4}, {1.7}}, counts, true},
          {"negative_binomial", "nll", {{0.4, 0.9}, {1.5, -0.3}}, counts, true},
          {"zero_inflated_poisson", "nll", {{0.4, -0.7}, {1.2, 0.6}}, counts, true}};
}

std::unique_ptr<Objective> make_loss(const Case& c, std::span<const double> target,
                                     std::span<const double> weight = {}) {
  LossOptions options{c.name};
  options.score = c.score;
  return make_objective(options, target, weight);
}

// The loss of targets that all have the same parameters.
std::vector<double> losses(const Objective& objective, const Theta& theta) {
  std::vector<double> scores, out(objective.n_rows());
  for (const double t : theta) scores.insert(scores.end(), objective.n_rows(), t);
  std::vector<RowIndex> rows(objective.n_rows());
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  objective.losses(scores, rows, out);
  return out;
}

struct Derived {
  std::vector<double> gradient, hessian;
};

Derived derive(const Objective& objective, const Theta& theta) {
  std::vector<double> scores;
  for (const double t : theta) scores.insert(scores.end(), objective.n_rows(), t);
  Derived d{std::vector<double>(scores.size()), std::vector<double>(scores.size())};
  objective.gradients(scores, 0, objective.n_rows(), d.gradient, d.hessian);
  return d;
}

Theta moved(Theta theta, std::size_t k, double by) {
  theta[k] += by;
  return theta;
}

using Matrix = std::vector<std::vector<double>>;

Matrix inverse(Matrix a) {
  const std::size_t n = a.size();
  Matrix out(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = a[i][i];
    for (std::size_t k = 0; k < n; ++k) a[i][k] /= pivot, out[i][k] /= pivot;
    for (std::size_t j = 0; j < n; ++j) {
      const double factor = a[j][i];
      for (std::size_t k = 0; k < n && j != i; ++k) {
        a[j][k] -= factor * a[i][k];
        out[j][k] -= factor * out[i][k];
      }
    }
  }
  return out;
}

// Targets on a grid of y (or of log y), and their probabilities under theta.
struct Grid {
  std::vector<double> y, probability;
};

Grid grid_of(const Case& c, const Theta& theta) {
  Grid grid;
  double step = 1.0;
  const bool is_positive = c.name == "gamma" || c.is_of_logarithms;
  if (c.is_count) {
    for (int y = 0; y < 400; ++y) grid.y.push_back(y);
  } else if (is_positive) {
    step = 1e-3;
    for (double x = -45.0; x < 25.0; x += step) grid.y.push_back(std::exp(x));
  } else {
    // Heavy tails: x = sinh t.
    step = 1e-3;
    for (double t = -9.0; t < 9.0; t += step) grid.y.push_back(theta[0] + std::sinh(t));
  }
  Case nll = c;
  nll.score = "nll";
  grid.probability = losses(*make_loss(nll, grid.y), theta);
  for (std::size_t i = 0; i < grid.y.size(); ++i) {
    const double y = grid.y[i] - theta[0];
    const double slope = c.is_count ? 1.0 : is_positive ? grid.y[i] : std::sqrt(1.0 + y * y);
    grid.probability[i] = std::exp(-grid.probability[i]) * slope * step;
  }
  return grid;
}

// The metric of theta: E[s s'] of the likelihood, else the expected second derivative.
Matrix metric(const Case& c, const Theta& theta) {
  constexpr double kStep = 1e-4;
  const std::size_t n = theta.size();
  const Grid grid = grid_of(c, theta);
  CHECK(std::accumulate(grid.probability.begin(), grid.probability.end(), 0.0) ==
        doctest::Approx(1.0).epsilon(1e-6));
  const auto objective = make_loss(c, grid.y);
  Matrix f(n, std::vector<double>(n));
  std::vector<std::vector<double>> slopes;
  for (std::size_t k = 0; k < n; ++k) {
    const auto up = losses(*objective, moved(theta, k, kStep));
    const auto down = losses(*objective, moved(theta, k, -kStep));
    std::vector<double>& slope = slopes.emplace_back();
    for (std::size_t i = 0; i < up.size(); ++i) slope.push_back((up[i] - down[i]) / (2 * kStep));
  }
  if (c.score == "nll") {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t l = 0; l < n; ++l) {
        for (std::size_t i = 0; i < grid.y.size(); ++i) {
          if (grid.probability[i] == 0.0) continue;
          f[k][l] += grid.probability[i] * slopes[k][i] * slopes[l][i];
        }
      }
    }
    return f;
  }
  const auto middle = losses(*objective, theta);
  for (std::size_t k = 0; k < n; ++k) {
    const auto up = losses(*objective, moved(theta, k, kStep));
    const auto down = losses(*objective, moved(theta, k, -kStep));
    for (std::size_t i = 0; i < grid.y.size(); ++i) {
      if (grid.probability[i] == 0.0) continue;
      f[k][k] += grid.probability[i] * (up[i] - 2 * middle[i] + down[i]) / (kStep * kStep);
    }
  }
  return f;
}

}  // namespace

TEST_CASE("functions of the family of gamma, and the error function") {
  for (const double x : {1e-8, 0.02, 0.5, 1.0, 2.0, 3.7, 9.99, 10.0, 55.5, 1e6}) {
    CAPTURE(x);
    CHECK(std::abs(log_gamma(x) - std::lgamma(x)) <= 1e-13 * (1.0 + std::abs(std::lgamma(x))));
    const double h = 1e-4 * x;
    const double slope = (std::lgamma(x + h) - std::lgamma(x - h)) / (2 * h);
    CHECK(digamma(x) == doctest::Approx(slope).epsilon(1e-6));
    CHECK(trigamma(x) ==
          doctest::Approx((digamma(x + h) - digamma(x - h)) / (2 * h)).epsilon(1e-6));
  }
  CHECK(digamma(1.0) == doctest::Approx(-0.57721566490153286).epsilon(1e-13));
  CHECK(trigamma(1.0) == doctest::Approx(1.64493406684822644).epsilon(1e-13));
  for (double x = -7.0; x < 7.0; x += 0.01) {
    REQUIRE(std::abs(error_function(x) - std::erf(x)) < 1e-15);
  }
}

TEST_CASE(
    "gradient over hessian is the natural gradient, and the hessian the efficient information") {
  constexpr double kStep = 1e-5;
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    CAPTURE(c.score);
    const auto objective = make_loss(c, c.targets);
    for (const Theta& theta : c.thetas) {
      const std::size_t n_parameters = theta.size(), n = c.targets.size();
      REQUIRE(objective->n_outputs() == n_parameters);
      const Derived d = derive(*objective, theta);
      const Matrix inverse_metric = inverse(metric(c, theta));
      std::vector<std::vector<double>> slopes;
      for (std::size_t k = 0; k < n_parameters; ++k) {
        const auto up = losses(*objective, moved(theta, k, kStep));
        const auto down = losses(*objective, moved(theta, k, -kStep));
        auto& slope = slopes.emplace_back();
        for (std::size_t i = 0; i < n; ++i) slope.push_back((up[i] - down[i]) / (2 * kStep));
      }
      // Derivatives in a location have the units of the targets, a power of two, and those of CRPS are CRPS in
      // these units.
      const double tolerance = c.name == "laplace" ? 1e-3 : 1e-4;  // of sums beside a kink
      const double unit =
          objective->step(0, 1.0) == doctest::Approx(std::log(2.0)) ? 1.0 : objective->step(0, 1.0);
      for (std::size_t k = 0; k < n_parameters; ++k) {
        const bool is_location = k == 0 && unit != 1.0;
        const double loss_unit = c.score == "crps" ? unit : 1.0;
        for (std::size_t i = 0; i < n; ++i) {
          CAPTURE(k);
          CAPTURE(c.targets[i]);
          double natural = 0.0;
          for (std::size_t l = 0; l < n_parameters; ++l) {
            natural += inverse_metric[k][l] * slopes[l][i];
          }
          const double scale = is_location ? unit : 1.0;
          CHECK(scale * d.gradient[k * n + i] / d.hessian[k * n + i] ==
                doctest::Approx(natural).epsilon(tolerance));
          CHECK(d.hessian[k * n + i] / (scale * scale) * loss_unit ==
                doctest::Approx(1.0 / inverse_metric[k][k]).epsilon(tolerance));
        }
      }
    }
  }
}

TEST_CASE("no other constants to start from are better") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    CAPTURE(c.score);
    std::vector<double> target = c.targets, weight(target.size() * 4);
    for (int i = 0; i < 2; ++i) target.insert(target.end(), target.begin(), target.end());
    if (c.is_count) target.insert(target.end(), {0.0, 0.0, 0.0, 0.0, 9.0, 3.0});
    weight.assign(target.size(), 1.0);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = 1.0 + static_cast<double>(i % 3);
    std::vector<RowIndex> rows(target.size());
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    const auto objective = make_loss(c, target, weight);
    const Theta start = objective->start(rows);
    const auto total = [&](const Theta& theta) {
      const auto all = losses(*objective, theta);
      return std::accumulate(all.begin(), all.end(), 0.0);
    };
    for (std::size_t k = 0; k < start.size(); ++k) {
      CAPTURE(start[k]);
      CAPTURE(k);
      for (const double by : {-0.5, -0.03, 0.03, 0.5}) {
        CHECK(total(moved(start, k, by)) >= total(start) - 1e-9);
      }
    }
    std::reverse(rows.begin(), rows.end());
    CHECK(objective->start(rows) == start);
  }
}

TEST_CASE("scores and targets far out give finite numbers") {
  for (const Case& c : all_cases()) {
    CAPTURE(c.name);
    CAPTURE(c.score);
    std::vector<double> target = c.targets;
    target.push_back(c.is_count ? 1e9 : 1e12);
    if (c.is_of_logarithms || c.name == "gamma") target.push_back(1e-200);
    const auto objective = make_loss(c, target);
    for (const double far : {-800.0, -20.0, 20.0, 800.0}) {
      const Theta theta(objective->n_outputs(), far);
      const Derived d = derive(*objective, theta);
      for (const double g : d.gradient) CHECK(std::isfinite(g * g));
      for (const double h : d.hessian) CHECK((std::isfinite(h) && h >= 0.0));
      for (const double loss : losses(*objective, theta)) CHECK(std::isfinite(loss));
    }
  }
}

TEST_CASE("steps of logarithms are bounded, and those of constant targets end") {
  const std::vector<double> target = {1.0, 1.0, 1.0};
  const std::vector<RowIndex> rows = {0, 1, 2};
  LossOptions options{"normal"};
  options.score = "nll";
  const auto objective = make_objective(options, target, {});
  const Theta start = objective->start(rows);
  CHECK(start[0] == 1.0);
  CHECK(std::isfinite(start[1]));
  CHECK(derive(*objective, start).gradient[4] == 0.0);  // no smaller scale is sought
  CHECK(objective->step(1, 1e6) < 8.0);
  CHECK(objective->step(1, 0.01) == doctest::Approx(0.01).epsilon(0.02));
  CHECK(objective->step(1, -7.0) == -0.5);
}

TEST_CASE("targets outside of the support and unknown scores are refused") {
  const auto refuse = [](const char* name, const char* score, double y, const char* message) {
    LossOptions options{name};
    options.score = score;
    const std::vector<double> target = {1.0, y};
    CHECK_THROWS_WITH_AS(make_objective(options, target, {}), message, Error);
  };
  refuse("lognormal", "nll", 0.0, "the lognormal distribution needs targets above 0; row 1 has 0");
  refuse("gamma", "nll", -1.0, "the gamma distribution needs targets above 0; row 1 has -1");
  refuse("poisson", "nll", 0.5,
         "distributions of counts need whole numbers from 0 on; row 1 has 0.5");
  refuse("gamma", "crps", 1.0, "only location-scale families have the score 'crps'");
  refuse("normal", "mse", 1.0, "score is 'nll' or 'crps'");
  refuse("cauchy", "nll", 1.0,
         "there are the distributions normal, lognormal, laplace, student_t, gamma, poisson, "
         "negative_binomial and zero_inflated_poisson");
}

}  // namespace arboleda
