// Accelerated failure times: the formulas of densities and distribution functions, finite differences, far tails.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "objective/objective.h"

namespace arboleda {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kScale = 0.7;
const char* const kDistributions[] = {"aft_normal", "aft_logistic", "aft_extreme"};

struct Intervals {
  std::vector<double> lower, upper, scores;
  std::vector<RowIndex> rows;

  void add(double low, double high, double score) {
    rows.push_back(static_cast<RowIndex>(rows.size()));
    lower.push_back(low);
    upper.push_back(high);
    scores.push_back(score);
  }
  std::unique_ptr<Objective> bind(const char* loss, std::span<const double> weight = {}) {
    target = lower;
    target.insert(target.end(), upper.begin(), upper.end());
    LossOptions options{loss};
    options.scale = kScale;
    return make_objective(options, target, weight);
  }

  std::vector<double> target;
};

// Of exact, right-, left- and interval-censored rows.
Intervals random_intervals(std::size_t n, double spread) {
  RandomStream random(3, Purpose::row_sample, 0, n);
  Intervals intervals;
  for (std::size_t i = 0; i < n; ++i) {
    const double low = 0.2 + 3.0 * random.uniform();
    const double high = i % 4 == 0   ? low
                        : i % 4 == 1 ? kInfinity
                                     : low + 2.0 * random.uniform() + 0.01;
    intervals.add(i % 4 == 2 ? 0.0 : low, high, spread * (random.uniform() - 0.5));
  }
  return intervals;
}

double density(const std::string& name, double z) {
  const double w = std::exp(z);
  if (name == "aft_normal") return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  return name == "aft_logistic" ? w / ((1.0 + w) * (1.0 + w)) : w * std::exp(-w);
}

double distribution(const std::string& name, double z) {
  const double w = std::exp(z);
  if (name == "aft_normal") return 0.5 * std::erfc(-z / std::numbers::sqrt2);
  return name == "aft_logistic" ? 1.0 - 1.0 / (1.0 + w) : 1.0 - std::exp(-w);
}

double naive_loss(const std::string& name, double lower, double upper, double score) {
  const double low = (std::log(lower) + score) / kScale, high = (std::log(upper) + score) / kScale;
  if (lower == upper) return -std::log(density(name, low));
  const double before = lower > 0.0 ? distribution(name, low) : 0.0;
  return -std::log((upper < kInfinity ? distribution(name, high) : 1.0) - before);
}

}  // namespace

TEST_CASE(
    "losses are those of the definition, gradients their slopes, hessians those of gradients") {
  for (const char* name : kDistributions) {
    CAPTURE(name);
    Intervals t = random_intervals(80, 3.0);
    const auto objective = t.bind(name);
    const std::size_t n = t.rows.size();
    std::vector<double> loss(n), gradient(n), hessian(n), up(n), down(n), unused(n);
    objective->losses(t.scores, t.rows, loss);
    objective->gradients(t.scores, 0, n, gradient, hessian);
    constexpr double kStep = 1e-5;
    auto higher = t.scores, lower = t.scores;
    for (double& f : higher) f += kStep;
    for (double& f : lower) f -= kStep;
    objective->gradients(higher, 0, n, up, unused);
    objective->gradients(lower, 0, n, down, unused);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = [&](double score) { return naive_loss(name, t.lower[i], t.upper[i], score); };
      CHECK(loss[i] == doctest::Approx(at(t.scores[i])).epsilon(1e-10));
      const double slope = (at(higher[i]) - at(lower[i])) / (2.0 * kStep);
      CHECK(gradient[i] == doctest::Approx(slope).epsilon(1e-5));
      CHECK(hessian[i] == doctest::Approx((up[i] - down[i]) / (2.0 * kStep)).epsilon(1e-5));
      CHECK(hessian[i] >= 0.0);
    }
  }
}

TEST_CASE("far scores have finite derivatives, and narrow intervals are as exact times") {
  for (const char* name : kDistributions) {
    CAPTURE(name);
    Intervals t;
    for (const double score : {-200.0, -30.0, 30.0, 200.0}) {
      t.add(1.0, 1.0, score);
      t.add(1.0, kInfinity, score);
      t.add(0.0, 1.0, score);
      t.add(1.0, 1.5, score);
    }
    std::vector<double> gradient(t.rows.size()), hessian(t.rows.size());
    t.bind(name)->gradients(t.scores, 0, t.rows.size(), gradient, hessian);
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
      CAPTURE(i);
      CHECK(std::isfinite(gradient[i]));
      CHECK(std::isfinite(hessian[i]));
      CHECK(hessian[i] >= 0.0);
    }
    Intervals narrow;
    narrow.add(2.0, 2.0, 0.4);
    narrow.add(2.0 - 1e-6, 2.0 + 1e-6, 0.4);
    narrow.add(2.0 - 1e-3, 2.0 + 1e-3, 0.4);
    narrow.bind(name)->gradients(narrow.scores, 0, 3, gradient, hessian);
    CHECK(gradient[1] == doctest::Approx(gradient[0]).epsilon(1e-6));
    CHECK(hessian[1] == doctest::Approx(hessian[0]).epsilon(1e-6));
    CHECK(gradient[2] == doctest::Approx(gradient[0]).epsilon(1e-4));
  }
}

TEST_CASE("scores start at the constant of the least loss") {
  for (const char* name : kDistributions) {
    CAPTURE(name);
    Intervals t = random_intervals(200, 0.0);
    const std::vector<double> weight(200, 2.0);
    const auto objective = t.bind(name, weight);
    const double best = objective->start(t.rows).front();
    const auto loss = [&](double score) {
      return objective->loss(std::vector<double>(200, score), t.rows);
    };
    CHECK(loss(best) < loss(best + 1e-3));
    CHECK(loss(best) < loss(best - 1e-3));
  }
}

TEST_CASE("targets and scales that are none are refused") {
  LossOptions options{"aft_normal"};
  const auto bind = [&](std::vector<double> target) { make_objective(options, target, {}); };
  CHECK_NOTHROW(bind({0.0, 1.0, kInfinity, 1.0}));
  CHECK_THROWS_AS(bind({2.0, 1.0}), Error);
  CHECK_THROWS_AS(bind({0.0, 0.0}), Error);
  CHECK_THROWS_AS(bind({kInfinity, kInfinity}), Error);
  options.scale = 0.0;
  CHECK_THROWS_AS(bind({1.0, 1.0}), Error);
}

TEST_CASE("discrete time: the log-loss of the periods at risk") {
  // An event in period 1; censored after 2 periods; an event in period 0; censored at once.
  const std::vector<double> target = {1.0, -2.0, 0.0, -0.0};
  LossOptions options{"discrete_time"};
  options.n_classes = 3;
  const auto objective = make_objective(options, target, {});
  REQUIRE(objective->n_outputs() == 3);
  const std::vector<RowIndex> rows = {0, 1, 2, 3};
  const std::vector<double> scores(12, std::log(0.25));  // hazards of 0.2
  std::vector<double> gradient(12), hessian(12), loss(4);
  objective->gradients(scores, 0, 4, gradient, hessian);
  objective->losses(scores, rows, loss);
  const std::vector<double> expected = {0.2,  0.2, -0.8, 0.0,  //
                                        -0.8, 0.2, 0.0,  0.0,  //
                                        0.0,  0.0, 0.0,  0.0};
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(gradient[i] == doctest::Approx(expected[i]));
    CHECK(hessian[i] == doctest::Approx(expected[i] == 0.0 ? 0.0 : 0.16));
  }
  CHECK(loss[0] == doctest::Approx(-std::log(0.8) - std::log(0.2)));
  CHECK(loss[1] == doctest::Approx(-2.0 * std::log(0.8)));
  CHECK(loss[2] == doctest::Approx(-std::log(0.2)));
  CHECK(loss[3] == 0.0);
  // One event among three rows at risk, one among two, none among none.
  const auto start = objective->start(rows);
  CHECK(start[0] == doctest::Approx(std::log(1.0 / 2.0)));
  CHECK(start[1] == doctest::Approx(0.0));
  CHECK(start[2] == doctest::Approx(std::log(1e-6)));
  CHECK_THROWS_AS(make_objective(options, std::vector<double>{3.0}, {}), Error);
  CHECK_THROWS_AS(make_objective(options, std::vector<double>{0.5}, {}), Error);
}

}  // namespace arboleda
