// Huber's loss: squared where the error is at most delta, linear beyond.
//   L = r^2 / 2 for |r| <= delta, delta (|r| - delta/2) else,   r = y - F
//   L' = -r for |r| <= delta, -delta sign r else
// Friedman (2001), algorithm 4, https://doi.org/10.1214/aos/1013203451: in each round delta is the
// alpha-quantile of |r| over all training rows; trees are grown by least squares to -L' (so 1 stands
// for the second derivative, which is 0 beyond delta); a leaf is given, with the median m of its r,
//   m + mean of sign(r - m) min(delta, |r - m|),
// one step from the median towards the best constant. The start is the median.
//
// Quantiles as in scikit-learn's GradientBoostingRegressor: lower ones (weighted_quantile.h), but for
// the start, which lies midway between the two medians.
//
// Before the first prepare() delta is infinite: half the squared error.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "objective/row_objective.h"
#include "objective/weighted_quantile.h"

namespace arboleda {

namespace {

class Huber final : public SeparableObjective {
 public:
  Huber(double alpha, const LossData& data) : SeparableObjective(data, 1), alpha_(alpha) {
    require(alpha > 0.0 && alpha < 1.0, "alpha of loss 'huber' lies between 0 and 1");
  }

  bool has_unit_hessian() const override { return is_unweighted(); }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    return {weighted_quantile(shards(), targets_of(rows), units_of(rows), 0.5, Between::midway)};
  }

  void prepare(std::span<const double> scores, std::span<const RowIndex> rows, std::uint32_t,
               const Context&) override {
    auto size = residuals(scores, 0, rows);
    for (double& r : size) r = std::abs(r);
    delta_ = weighted_quantile(shards(), size, units_of(rows), alpha_, Between::lower);
  }

  void prepare_as(const Objective& other) override {
    delta_ = dynamic_cast<const Huber&>(other).delta_;
  }

  bool has_exact_leaf_step() const override { return true; }
  double best_step(std::span<const double> scores, std::size_t output,
                   std::span<const RowIndex> rows) const override {
    auto r = residuals(scores, output, rows);
    const double median = weighted_quantile(r, units_of(rows), 0.5, Between::lower);
    for (double& d : r) d = std::clamp(d - median, -delta_, delta_);
    return median + own_mean(r, rows);
  }
  std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                 std::span<const std::span<const RowIndex>> leaves) const override {
    std::vector<double> steps = residual_quantiles(scores, output, leaves, 0.5);
    std::vector<std::vector<double>> bounded;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      bounded.push_back(residuals(scores, output, leaves[i]));
      for (double& d : bounded.back()) d = std::clamp(d - steps[i], -delta_, delta_);
    }
    const std::vector<double> means = weighted_means(bounded, leaves);
    for (std::size_t i = 0; i < steps.size(); ++i) steps[i] += means[i];
    return steps;
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      gradient[j] = std::clamp(score[j] - target[j], -delta_, delta_);
    }
    std::fill(hessian.begin(), hessian.end(), 1.0);
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double r = std::abs(target[j] - score[j]);
      const double bounded = std::min(r, delta_);
      out[j] = bounded * (r - 0.5 * bounded);
    }
  }

  double alpha_;
  double delta_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::unique_ptr<Objective> make_huber(const LossOptions& options, const LossData& data) {
  return std::make_unique<Huber>(options.alpha, data);
}

}  // namespace arboleda
