// Accelerated failure time: log t = -F + sigma e, so that a larger score means an earlier event.
//
// With z = (log t + F) / sigma, and f and G the density and the distribution function of e, a row whose event was
// in (lower, upper] has the loss
//   L = -log (G(z_u) - G(z_l)),          dL/dF = (r_l - r_u) / sigma,
//   d2L/dF2 = ((r_l - r_u)^2 - s_u r_u + s_l r_l) / sigma^2
// with r = f(z) / (G(z_u) - G(z_l)) and s = (log f)'(z) at either end: 0 at an end that is infinite. It is
// right-censored where upper is infinite, left-censored where lower is 0. Where both are equal, the event is exact:
//   L = -log f(z),   dL/dF = -s / sigma,   d2L/dF2 = -(log f)"(z) / sigma^2.
// Left out: the logarithm of t sigma, which no score changes. All losses are convex, as f is log-concave.
//
// Barnwal, Cho, Hocking (2022), "Survival regression with accelerated failure time model in XGBoost", Journal of
// Computational and Graphical Statistics, https://doi.org/10.1080/10618600.2022.2067548
//
// Targets: the lower ends of all rows, then the upper ends.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/exact_sum.h"
#include "objective/row_objective.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Intervals of less than this in z count as exact events at their middle, relative to which they err by its square.
constexpr double kShortInterval = 1e-4;
constexpr double kLargestExponent = 300.0;
constexpr int kMostStartSteps = 50;

double exp_up_to_limit(double z) { return stable_exp(std::min(z, kLargestExponent)); }

// log (1 - exp -x) for x > 0.
double log_of_rest(double x) { return stable_log(1.0 - stable_exp(-x)); }

// Of e. Where it is symmetric, lower tails are upper ones of -z.
class ErrorDistribution {
 public:
  virtual ~ErrorDistribution() = default;

  virtual double log_density(double z) const = 0;
  virtual double slope(double z) const = 0;      // (log f)'
  virtual double curvature(double z) const = 0;  // -(log f)"
  virtual double log_above(double z) const = 0;  // log (1 - G)
  virtual double log_below(double z) const { return log_above(-z); }
  virtual double hazard(double z) const = 0;                          // f / (1 - G)
  virtual double hazard_below(double z) const { return hazard(-z); }  // f / G
};

class NormalError final : public ErrorDistribution {
 public:
  double log_density(double z) const override { return -0.5 * z * z - kLogRoot; }
  double slope(double z) const override { return -z; }
  double curvature(double) const override { return 1.0; }
  double log_above(double z) const override {
    return z > 0.0 ? log_density(z) + stable_log(mills_ratio(z)) : stable_log(above_negative(z));
  }
  double hazard(double z) const override {
    return z > 0.0 ? 1.0 / mills_ratio(z) : stable_exp(log_density(z)) / above_negative(z);
  }

 private:
  static constexpr double kLogRoot = 0.91893853320467274178;  // log sqrt(2 pi)
  static constexpr double kLongestSeries = 3.0;
  static constexpr int kFractionTerms = 30;

  double above_negative(double z) const {
    return 1.0 - stable_exp(log_density(z)) * mills_ratio(-z);
  }

  // (1 - G(z)) / f(z) for z >= 0: sqrt(pi/2) exp(z^2 / 2) - (z + z^3/3 + z^5/(3 5) + ...) while little cancels, then
  // Laplace's continued fraction 1/(z + 1/(z + 2/(z + 3/(z + ...)))). Abramowitz, Stegun (1964), 26.2.11 and 26.2.14.
  static double mills_ratio(double z) {
    if (z < kLongestSeries) {
      double term = z, sum = z;
      for (double odd = 3.0; term > 1e-17 * sum; odd += 2.0) {
        term *= z * z / odd;
        sum += term;
      }
      return stable_exp(0.5 * z * z + kLogRoot) * 0.5 - sum;
    }
    double fraction = z;
    for (int k = kFractionTerms; k > 0; --k) fraction = z + k / fraction;
    return 1.0 / fraction;
  }
};

class LogisticError final : public ErrorDistribution {
 public:
  double log_density(double z) const override { return log_above(z) + log_above(-z); }
  double slope(double z) const override { return 1.0 - 2.0 * hazard(z); }
  double curvature(double z) const override { return 2.0 * hazard(z) * hazard(-z); }
  double log_above(double z) const override {
    double softplus = 0.0;
    kernels().math.softplus(&z, 1, &softplus);
    return -softplus;
  }
  double hazard(double z) const override { return 1.0 / (1.0 + exp_up_to_limit(-z)); }
};

// Of least values: t has a Weibull distribution.
class ExtremeError final : public ErrorDistribution {
 public:
  double log_density(double z) const override { return z - exp_up_to_limit(z); }
  double slope(double z) const override { return 1.0 - exp_up_to_limit(z); }
  double curvature(double z) const override { return exp_up_to_limit(z); }
  double log_above(double z) const override { return -exp_up_to_limit(z); }
  double log_below(double z) const override {
    const double w = exp_up_to_limit(z);
    return w < kLinear ? z - 0.5 * w : log_of_rest(w);
  }
  double hazard(double z) const override { return exp_up_to_limit(z); }
  double hazard_below(double z) const override {
    const double w = exp_up_to_limit(z);
    return w < kLinear ? 1.0 - 0.5 * w : w / (exp_up_to_limit(w) - 1.0);
  }

 private:
  static constexpr double kLinear = 1e-8;  // 1 - exp -w = w (1 - w/2) up to here
};

class FailureTime final : public RowObjective {
 public:
  FailureTime(std::unique_ptr<ErrorDistribution> error, double scale, const LossData& data,
              std::size_t n)
      : RowObjective({data.target.first(n), data.weight, {}, data.shards}, 1),
        error_(std::move(error)),
        scale_(scale),
        log_lower_(n),
        log_upper_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double lower = data.target[i], upper = data.target[n + i];
      require(lower >= 0.0 && lower <= upper && upper > 0.0,
              "a row needs 0 <= lower <= upper, and upper above 0");
      log_lower_[i] = stable_log(lower);
      log_upper_[i] = stable_log(upper);
    }
  }

  // Newton's method, from the mean of the logarithms of times.
  std::vector<double> start(std::span<const RowIndex> rows) const override {
    std::vector<double> logs, scores(n_rows()), gradient(n_rows()), hessian(n_rows());
    for (const RowIndex row : rows) {
      const double end = std::isfinite(log_upper_[row]) ? log_upper_[row] : log_lower_[row];
      logs.push_back(std::isfinite(end) ? end : 0.0);
    }
    double best = -weighted_mean(logs, rows);
    std::vector<double> g, h;
    for (int step = 0; step < kMostStartSteps; ++step) {
      std::fill(scores.begin(), scores.end(), best);
      gradients(scores, 0, n_rows(), gradient, hessian);
      g.clear();
      h.clear();
      for (const RowIndex row : rows) {
        g.push_back(gradient[row]);
        h.push_back(hessian[row]);
      }
      const double curvature = exact_sum(shards(), h);
      if (!(curvature > 0.0)) break;
      const double move =
          std::clamp(-exact_sum(shards(), g) / curvature, -2.0 * scale_, 2.0 * scale_);
      best += move;
      if (std::abs(move) < 1e-9 * scale_) break;
    }
    return {best};
  }

 private:
  // The ends of a row's interval in z, and the middle of a short one.
  struct Ends {
    double lower, upper;
    bool is_exact() const { return upper - lower < kShortInterval; }
    double middle() const { return upper == lower ? lower : 0.5 * (lower + upper); }
    bool is_above() const { return std::isinf(upper) || lower + upper > 0.0; }
  };
  Ends ends(double score, RowIndex row) const {
    return {(log_lower_[row] + score) / scale_, (log_upper_[row] + score) / scale_};
  }

  // How much of log P lies between the ends, seen from the tail that is closer.
  double span_of(const Ends& z) const {
    return z.is_above() ? error_->log_above(z.lower) - error_->log_above(z.upper)
                        : error_->log_below(z.upper) - error_->log_below(z.lower);
  }

  void unit_gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                      std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t i = begin; i < end; ++i) {
      const Ends z = ends(scores[i], static_cast<RowIndex>(i));
      if (z.is_exact()) {
        gradient[i] = -error_->slope(z.middle()) / scale_;
        hessian[i] = error_->curvature(z.middle()) / (scale_ * scale_);
      } else {
        set_of_interval(z, gradient[i], hessian[i]);
      }
    }
  }

  void set_of_interval(const Ends& z, double& gradient, double& hessian) const {
    double lower = 0.0, upper = 0.0;  // r at the ends
    if (std::isinf(z.upper)) {
      if (!std::isinf(z.lower)) lower = error_->hazard(z.lower);
    } else if (std::isinf(z.lower)) {
      upper = error_->hazard_below(z.upper);
    } else {
      const double ratio = stable_exp(-span_of(z));
      const double rest = 1.0 - ratio;
      if (z.is_above()) {
        lower = error_->hazard(z.lower) / rest;
        upper = ratio == 0.0 ? 0.0 : error_->hazard(z.upper) * (ratio / rest);
      } else {
        upper = error_->hazard_below(z.upper) / rest;
        lower = ratio == 0.0 ? 0.0 : error_->hazard_below(z.lower) * (ratio / rest);
      }
    }
    const double difference = lower - upper;
    double second = difference * difference;
    if (upper > 0.0) second -= error_->slope(z.upper) * upper;
    if (lower > 0.0) second += error_->slope(z.lower) * lower;
    gradient = difference / scale_;
    hessian = std::max(second, 0.0) / (scale_ * scale_);
  }

  void unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                   std::span<double> out) const override {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      const Ends z = ends(scores[rows[j]], rows[j]);
      if (z.is_exact()) {
        const double length = z.upper - z.lower;
        out[j] = -error_->log_density(z.middle()) - (length > 0.0 ? stable_log(length) : 0.0);
      } else if (std::isinf(z.upper)) {
        out[j] = std::isinf(z.lower) ? 0.0 : -error_->log_above(z.lower);
      } else if (std::isinf(z.lower)) {
        out[j] = -error_->log_below(z.upper);
      } else {
        out[j] = -log_of_rest(span_of(z)) -
                 (z.is_above() ? error_->log_above(z.lower) : error_->log_below(z.upper));
      }
    }
  }

  std::unique_ptr<ErrorDistribution> error_;
  double scale_;
  std::vector<double> log_lower_, log_upper_;
};

std::unique_ptr<Objective> make_failure_time(std::unique_ptr<ErrorDistribution> error,
                                             const LossOptions& options, const LossData& data) {
  require(options.scale > 0.0, "the scale of the logarithm of times is positive");
  require(data.target.size() % 2 == 0, "every row needs a lower and an upper time");
  return std::make_unique<FailureTime>(std::move(error), options.scale, data,
                                       data.target.size() / 2);
}

}  // namespace

std::unique_ptr<Objective> make_aft_normal(const LossOptions& options, const LossData& data) {
  return make_failure_time(std::make_unique<NormalError>(), options, data);
}

std::unique_ptr<Objective> make_aft_logistic(const LossOptions& options, const LossData& data) {
  return make_failure_time(std::make_unique<LogisticError>(), options, data);
}

std::unique_ptr<Objective> make_aft_extreme(const LossOptions& options, const LossData& data) {
  return make_failure_time(std::make_unique<ExtremeError>(), options, data);
}

}  // namespace arboleda
