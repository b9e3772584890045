// What every loss must fulfil. A new loss is tested by standing in all_losses().
#include "objective/objective.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"

namespace arboleda {

namespace {

enum class Targets { classes, real, counts, positive };

struct Case {
  LossOptions options;
  Targets targets;
  std::size_t n_outputs = 1;
};

LossOptions focal(double gamma) {
  LossOptions options{"focal", 2};
  options.focal_gamma = gamma;
  return options;
}

LossOptions expectile(double level) {
  LossOptions options{"expectile"};
  options.expectile = level;
  return options;
}

LossOptions pseudo_huber(double delta) {
  LossOptions options{"pseudo_huber"};
  options.huber_slope = delta;
  return options;
}

std::vector<Case> all_losses() {
  return {{{"log_loss", 2}, Targets::classes},
          {{"log_loss", 4}, Targets::classes, 4},
          {{"exponential", 2}, Targets::classes},
          {focal(2.0), Targets::classes},
          {focal(0.5), Targets::classes},
          {{"squared_error"}, Targets::real},
          {expectile(0.8), Targets::real},
          {pseudo_huber(0.7), Targets::real},
          {{"mape"}, Targets::real},
          {{"absolute_error"}, Targets::real},
          {{"huber"}, Targets::real},
          {{"quantile", 0, {0.1, 0.5, 0.85}}, Targets::real, 3},
          {{"poisson"}, Targets::counts},
          {{"gamma"}, Targets::positive},
          {{"tweedie", 0, {}, 0.9, 1.3}, Targets::counts}};
}

bool is_smooth(const Case& c) {
  const auto& name = c.options.name;
  return name != "absolute_error" && name != "quantile" && name != "huber" && name != "mape";
}

// What stands for the second derivative of a loss that has none, or one that no step can rely on. bend: the
// second derivative of the loss of weight w.
double expected_hessian(const Case& c, double y, double score, double w, double bend) {
  const auto& options = c.options;
  if (options.name == "mape") return w / std::max(1.0, std::abs(y));
  if (options.name == "pseudo_huber") {
    return w / std::sqrt(1.0 + std::pow((score - y) / options.huber_slope, 2));
  }
  if (options.name == "focal") {
    const double p = 1.0 / (1.0 + std::exp(y == 1.0 ? -score : score));
    return std::max(bend, w * std::pow(1.0 - p, options.focal_gamma) * p * (1.0 - p));
  }
  return is_smooth(c) ? bend : w;
}

// Rows with targets, weights and scores.
struct Problem {
  std::vector<double> target, weight, scores;
  std::vector<RowIndex> rows;

  Problem(const Case& c, std::size_t n, std::uint64_t seed)
      : target(n), weight(n), scores(n * c.n_outputs), rows(n) {
    RandomStream random(seed, Purpose::feature_subset, 0, 0);
    const auto uniform = [&] { return std::ldexp(static_cast<double>(random.next()) + 0.5, -32); };
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    const auto n_classes =
        static_cast<std::uint32_t>(std::max<std::size_t>(c.options.n_classes, 1));
    for (auto& y : target) {
      switch (c.targets) {
        case Targets::classes:
          y = random.below(n_classes);
          break;
        case Targets::real:
          y = 6.0 * uniform() - 2.0;
          break;
        case Targets::counts:
          y = random.below(4) * (1.0 + (c.options.name == "tweedie"));
          break;
        case Targets::positive:
          y = 0.05 + 3.0 * uniform();
          break;
      }
    }
    for (auto& w : weight) w = 1 + random.below(3);
    for (auto& f : scores) f = 4.0 * uniform() - 2.0;
  }

  std::size_t n() const { return target.size(); }
  std::unique_ptr<Objective> bind(const Case& c, bool weighted) const {
    return make_objective(c.options, target, weighted ? weight : std::span<const double>{});
  }
};

struct Derivatives {
  std::vector<double> gradient, hessian;
};

Derivatives derivatives(const Objective& objective, std::span<const double> scores) {
  Derivatives d{std::vector<double>(scores.size()), {}};
  if (!objective.has_unit_hessian()) d.hessian.resize(scores.size());
  // In two calls, at a place that is no multiple of a block.
  const std::size_t middle = objective.n_rows() / 3;
  objective.gradients(scores, 0, middle, d.gradient, d.hessian);
  objective.gradients(scores, middle, objective.n_rows(), d.gradient, d.hessian);
  if (objective.has_unit_hessian()) d.hessian.assign(scores.size(), 1.0);
  return d;
}

// Whether blocks of rows that are computed alone have the same bits.
bool has_same_blocks(const Objective& objective, std::span<const double> scores,
                     const Derivatives& all) {
  for (std::size_t k = 0; k < objective.n_outputs(); ++k) {
    for (const std::size_t begin : {std::size_t{0}, objective.n_rows() / 2 + 3}) {
      std::vector<double> g(objective.n_rows() - begin), h(g.size());
      objective.block_gradients(k, scores, begin, objective.n_rows(), g,
                                std::span(h).first(objective.has_unit_hessian() ? 0 : h.size()));
      const auto at = static_cast<std::ptrdiff_t>(k * objective.n_rows() + begin);
      if (!std::equal(g.begin(), g.end(), all.gradient.begin() + at)) return false;
      if (objective.has_unit_hessian()) continue;
      if (!std::equal(h.begin(), h.end(), all.hessian.begin() + at)) return false;
    }
  }
  return true;
}

// The loss of the rows if all their scores of `output` were raised by `step`.
double loss_after(const Objective& objective, std::vector<double> scores, std::size_t output,
                  std::span<const RowIndex> rows, double step) {
  for (const RowIndex row : rows) scores[output * objective.n_rows() + row] += step;
  return objective.loss(scores, rows);
}

}  // namespace

TEST_CASE("gradients are slopes of the loss, hessians those of gradients") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    const Problem problem(c, 700, 1);
    for (const bool weighted : {false, true}) {
      const auto objective = problem.bind(c, weighted);
      REQUIRE(objective->n_outputs() == c.n_outputs);
      objective->prepare(problem.scores, problem.rows, 0, Context());
      const auto d = derivatives(*objective, problem.scores);
      if (objective->has_block_gradients()) {
        CHECK(has_same_blocks(*objective, problem.scores, d));
      }
      constexpr double kStep = 1e-5;
      for (std::size_t k = 0; k < c.n_outputs; ++k) {
        auto up = problem.scores, down = problem.scores;
        for (std::size_t i = 0; i < problem.n(); ++i) {
          up[k * problem.n() + i] += kStep;
          down[k * problem.n() + i] -= kStep;
        }
        std::vector<double> loss_up(problem.n()), loss_down(problem.n());
        objective->losses(up, problem.rows, loss_up);
        objective->losses(down, problem.rows, loss_down);
        const auto d_up = derivatives(*objective, up), d_down = derivatives(*objective, down);
        std::size_t n_kinks = 0;
        for (std::size_t i = 0; i < problem.n(); ++i) {
          const std::size_t at = k * problem.n() + i;
          const double w = weighted ? problem.weight[i] : 1.0;
          const double slope = (loss_up[i] - loss_down[i]) / (2 * kStep);
          if (std::abs(slope - d.gradient[at]) > 1e-7 * (w + std::abs(slope))) ++n_kinks;
          const double bend = (d_up.gradient[at] - d_down.gradient[at]) / (2 * kStep);
          const double expected =
              expected_hessian(c, problem.target[i], problem.scores[at], w, bend);
          REQUIRE(d.hessian[at] == doctest::Approx(expected).epsilon(1e-7));
        }
        CHECK(n_kinks <= (is_smooth(c) ? 0 : 1));  // a score may lie within the step of a kink
      }
    }
  }
}

TEST_CASE("no other constant to start from is better") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    const Problem problem(c, 301, 2);
    for (const bool weighted : {false, true}) {
      const auto objective = problem.bind(c, weighted);
      const auto start = objective->start(problem.rows);
      REQUIRE(start.size() == c.n_outputs);
      std::vector<double> scores;
      for (const double f : start) scores.insert(scores.end(), problem.n(), f);
      if (c.options.name == "huber") continue;  // starts from the median: see its own test
      const double least = objective->loss(scores, problem.rows);
      for (std::size_t k = 0; k < c.n_outputs; ++k) {
        for (const double step : {-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0}) {
          CHECK(loss_after(*objective, scores, k, problem.rows, step) >=
                least - 1e-13 * std::abs(least));
        }
      }
    }
  }
}

TEST_CASE("no other step of a leaf is better") {
  for (const Case& c : all_losses()) {
    const Problem problem(c, 64, 3);
    for (const bool weighted : {false, true}) {
      const auto objective = problem.bind(c, weighted);
      if (!objective->has_exact_leaf_step()) continue;
      CAPTURE(c.options.name);
      objective->prepare(problem.scores, problem.rows, 0, Context());
      const std::vector<RowIndex> leaf = {3, 5, 8, 13, 21, 34, 55, 60};
      for (std::size_t k = 0; k < c.n_outputs; ++k) {
        const double step = objective->best_step(problem.scores, k, leaf);
        const auto after = [&](double s) {
          return loss_after(*objective, problem.scores, k, leaf, s);
        };
        if (c.options.name == "huber") {  // one step from the median, no minimum: it helps
          CHECK(after(step) < after(0.0));
          continue;
        }
        for (const double other : {-1.0, -0.1, -1e-6, 1e-6, 0.1, 1.0}) {
          CHECK(after(step + other) >= after(step) - 1e-13 * std::abs(after(step)));
        }
      }
    }
  }
}

TEST_CASE("weights are as many rows") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    const Problem problem(c, 150, 4);
    std::vector<RowIndex> of;  // the row that each repeated one stands for
    for (const RowIndex row : problem.rows) {
      of.insert(of.end(), static_cast<std::size_t>(problem.weight[row]), row);
    }
    Problem repeated = problem;
    repeated.target.clear();
    repeated.scores.clear();
    repeated.rows.resize(of.size());
    std::iota(repeated.rows.begin(), repeated.rows.end(), RowIndex{0});
    for (const RowIndex row : of) repeated.target.push_back(problem.target[row]);
    for (std::size_t k = 0; k < c.n_outputs; ++k) {
      for (const RowIndex row : of) repeated.scores.push_back(problem.scores[k * 150 + row]);
    }
    const auto a = problem.bind(c, true), b = repeated.bind(c, false);
    CHECK(a->start(problem.rows) == b->start(repeated.rows));
    CHECK(a->total_weight(problem.rows) == b->total_weight(repeated.rows));
    a->prepare(problem.scores, problem.rows, 0, Context());
    b->prepare(repeated.scores, repeated.rows, 0, Context());
    const auto da = derivatives(*a, problem.scores), db = derivatives(*b, repeated.scores);
    for (std::size_t k = 0; k < c.n_outputs; ++k) {
      for (std::size_t j = 0; j < of.size(); ++j) {
        const double w = problem.weight[of[j]];
        REQUIRE(da.gradient[k * 150 + of[j]] == w * db.gradient[k * of.size() + j]);
        REQUIRE(da.hessian[k * 150 + of[j]] == w * db.hessian[k * of.size() + j]);
      }
      if (a->has_exact_leaf_step()) {
        CHECK(a->best_step(problem.scores, k, problem.rows) ==
              b->best_step(repeated.scores, k, repeated.rows));
      }
    }
    CHECK(a->loss(problem.scores, problem.rows) ==
          doctest::Approx(b->loss(repeated.scores, repeated.rows)).epsilon(1e-13));
  }
}

TEST_CASE("the order of rows changes no bit") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    Problem problem(c, 400, 5);
    for (auto& w : problem.weight) w = 0.1 + w / 7.0;
    const auto objective = problem.bind(c, true), other = problem.bind(c, true);
    auto shuffled = problem.rows;
    RandomStream random(6, Purpose::feature_subset, 0, 0);
    for (std::size_t i = shuffled.size() - 1; i > 0; --i) {
      std::swap(shuffled[i], shuffled[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
    objective->prepare(problem.scores, problem.rows, 0, Context());
    other->prepare(problem.scores, shuffled, 0, Context());
    CHECK(objective->start(problem.rows) == other->start(shuffled));
    CHECK(objective->loss(problem.scores, problem.rows) == other->loss(problem.scores, shuffled));
    CHECK(objective->total_weight(problem.rows) == other->total_weight(shuffled));
    for (std::size_t k = 0; k < c.n_outputs && objective->has_exact_leaf_step(); ++k) {
      CHECK(objective->best_step(problem.scores, k, problem.rows) ==
            other->best_step(problem.scores, k, shuffled));
    }
  }
}

TEST_CASE("scores far out give numbers") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    Problem problem(c, 40, 7);
    const auto objective = problem.bind(c, true);
    for (std::size_t at = 0; at < problem.scores.size(); ++at) {
      problem.scores[at] = at % 3 == 0 ? 800.0 : at % 3 == 1 ? -800.0 : 0.0;
    }
    objective->prepare(problem.scores, problem.rows, 0, Context());
    const auto d = derivatives(*objective, problem.scores);
    for (const double g : d.gradient) CHECK(std::isfinite(g * g));
    for (const double h : d.hessian) CHECK((std::isfinite(h) && h >= 0.0));
    CHECK(std::isfinite(objective->loss(problem.scores, problem.rows)));
  }
}

TEST_CASE("rows of weight 0 count for nothing") {
  for (const Case& c : all_losses()) {
    CAPTURE(c.options.name);
    Problem problem(c, 60, 8);
    std::vector<RowIndex> kept;
    for (const RowIndex row : problem.rows) {
      if (row % 3 == 0) {
        problem.weight[row] = 0.0;
        if (c.targets == Targets::real) problem.target[row] = 1e200;  // its square is no number
      } else {
        kept.push_back(row);
      }
    }
    const auto objective = problem.bind(c, true), other = problem.bind(c, true);
    objective->prepare(problem.scores, problem.rows, 0, Context());
    other->prepare(problem.scores, kept, 0, Context());
    const auto d = derivatives(*objective, problem.scores);
    for (std::size_t i = 0; i < 60; i += 3) CHECK((d.gradient[i] == 0.0 && d.hessian[i] == 0.0));
    CHECK(objective->start(problem.rows) == other->start(kept));
    CHECK(objective->loss(problem.scores, problem.rows) == other->loss(problem.scores, kept));
    if (objective->has_exact_leaf_step()) {
      CHECK(objective->best_step(problem.scores, 0, problem.rows) ==
            other->best_step(problem.scores, 0, kept));
    }
  }
}

TEST_CASE("where two medians are as good, the start is their middle and a step the lower") {
  const std::vector<double> target = {4.0, 1.0, 3.0, 8.0}, scores(8, 0.0);
  const std::vector<RowIndex> rows = {0, 1, 2, 3};
  const auto absolute = make_objective({"absolute_error"}, target, {});
  CHECK(absolute->start(rows) == std::vector{3.5});
  CHECK(absolute->best_step(scores, 0, rows) == 3.0);
  const auto quantile = make_objective({"quantile", 0, {0.5, 0.75}}, target, {});
  CHECK(quantile->start(rows) == std::vector{3.5, 6.0});
  CHECK(quantile->best_step(scores, 1, rows) == 4.0);
}

TEST_CASE("an objective takes over what another found out of the rows") {
  const Case huber{{"huber"}, Targets::real};
  const Problem problem(huber, 100, 9);
  const auto trained = problem.bind(huber, true), compared = problem.bind(huber, false);
  trained->prepare(problem.scores, problem.rows, 0, Context());
  compared->prepare_as(*trained);
  std::vector<double> out(100), out_compared(100);
  trained->losses(problem.scores, problem.rows, out);
  compared->losses(problem.scores, problem.rows, out_compared);
  for (std::size_t i = 0; i < 100; ++i) CHECK(out[i] == out_compared[i] * problem.weight[i]);
}

TEST_CASE("Huber's start and step are Friedman's") {
  const std::vector<double> target = {0.0, 1.0, 2.0, 3.0, 40.0};
  const std::vector<RowIndex> rows = {0, 1, 2, 3, 4};
  const auto objective = make_objective({"huber", 0, {}, 0.6}, target, {});
  CHECK(objective->start(rows) == std::vector{2.0});
  CHECK(objective->start(std::span(rows).first(4)) == std::vector{1.5});
  const std::vector<double> scores(5, 1.0);  // residuals -1, 0, 1, 2, 39; 0.6 of five is three
  objective->prepare(scores, rows, 0, Context());
  const auto d = derivatives(*objective, scores);
  CHECK(d.gradient == std::vector{1.0, 0.0, -1.0, -1.0, -1.0});
  // median 1, differences -2, -1, 0, 1, 38 within 1: mean of -1, -1, 0, 1, 1.
  CHECK(objective->best_step(scores, 0, rows) == 1.0);
  CHECK(objective->best_step(scores, 0, std::span(rows).first(4)) == 0.0 + (-1.0 + 0 + 1 + 1) / 4);
  CHECK(objective->loss(scores, rows) == 0.5 + 0.0 + 0.5 + 1.5 + 38.5);
}

TEST_CASE("targets, weights and options that cannot be used are refused by name") {
  const auto refuse = [](const LossOptions& options, std::vector<double> target,
                         std::vector<double> weight, const char* message) {
    CHECK_THROWS_WITH_AS(make_objective(options, target, weight), message, Error);
  };
  refuse({"poisson"}, {1.0, -0.5}, {},
         "loss 'poisson' needs targets that are not negative; row 1 has -0.5");
  refuse({"tweedie"}, {-1.0}, {},
         "loss 'tweedie' needs targets that are not negative; row 0 has -1");
  refuse({"gamma"}, {1.0, 0.0}, {}, "loss 'gamma' needs targets above 0; row 1 has 0");
  refuse({"log_loss", 2}, {0.0, 2.0}, {},
         "loss 'log_loss' of two classes needs targets 0 and 1; row 1 has 2");
  refuse({"exponential", 2}, {0.5}, {}, "loss 'exponential' needs targets 0 and 1; row 0 has 0.5");
  refuse({"log_loss", 3}, {0.0, 3.0}, {},
         "loss 'log_loss' needs classes 0, 1, .. below their number; row 1 has 3");
  refuse({"log_loss", 3}, {0.0, 1.5}, {},
         "loss 'log_loss' needs classes 0, 1, .. below their number; row 1 has 1.5");
  refuse({"squared_error"}, {0.0, INFINITY}, {}, "targets must be finite; row 1 has inf");
  refuse({"squared_error"}, {0.0, 1.0}, {1.0, -1.0}, "weights must be finite and not negative");
  refuse({"squared_error"}, {0.0, 1.0}, {0.0, 0.0}, "at least one weight must be positive");
  refuse({"log_loss", 1}, {0.0}, {}, "loss 'log_loss' needs at least two classes");
  refuse({"quantile"}, {0.0}, {}, "loss 'quantile' needs at least one level");
  refuse({"quantile", 0, {0.5, 1.0}}, {0.0}, {}, "levels of loss 'quantile' lie between 0 and 1");
  refuse({"huber", 0, {}, 1.0}, {0.0}, {}, "alpha of loss 'huber' lies between 0 and 1");
  refuse({"tweedie", 0, {}, 0.9, 2.0}, {0.0}, {}, "power of loss 'tweedie' lies between 1 and 2");
  refuse(
      {"hinge"}, {0.0}, {},
      "there is no loss 'hinge'; there are log_loss, exponential, focal, squared_error, "
      "absolute_error, huber, quantile, expectile, pseudo_huber, mape, poisson, gamma, tweedie, "
      "lambdarank, pairwise, xe_ndcg, yetirank, cox_efron, cox_breslow, aft_normal, aft_logistic, "
      "aft_extreme, discrete_time");

  const std::vector<double> zeros = {0.0, 0.0, 1.0}, weight = {1.0, 1.0, 0.0};
  const std::vector<RowIndex> rows = {0, 1};
  CHECK_THROWS_AS(make_objective({"poisson"}, zeros, {})->start(rows), Error);
  CHECK_THROWS_AS(make_objective({"tweedie"}, zeros, weight)->start(rows), Error);
  CHECK_THROWS_AS(make_objective({"squared_error"}, zeros, weight)->start(std::vector<RowIndex>{2}),
                  Error);
}

}  // namespace arboleda
