// Absolute error: least absolute deviation.
//   L = |F - y|,   L' = 1 for F > y, else -1
// The second derivative is 0 where there is one; 1 stands for it, so that trees are grown by least
// squares to the signs, and each leaf is given the median of its residuals: Friedman (2001),
// algorithm 3, https://doi.org/10.1214/aos/1013203451
//
// Medians: any number between the lower and the upper one is best. The start is the middle of the two;
// a leaf takes the lower one, as scikit-learn's GradientBoostingRegressor does.
#include <algorithm>
#include <cmath>

#include "objective/row_objective.h"
#include "objective/weighted_quantile.h"

namespace arboleda {

namespace {

class AbsoluteErrorLoss final : public SeparableObjective {
 public:
  explicit AbsoluteErrorLoss(const LossData& data) : SeparableObjective(data, 1) {}

  bool has_unit_hessian() const override { return is_unweighted(); }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    return {weighted_quantile(shards(), targets_of(rows), units_of(rows), 0.5, Between::midway)};
  }

  bool has_exact_leaf_step() const override { return true; }
  double best_step(std::span<const double> scores, std::size_t output,
                   std::span<const RowIndex> rows) const override {
    return weighted_quantile(residuals(scores, output, rows), units_of(rows), 0.5, Between::lower);
  }
  std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                 std::span<const std::span<const RowIndex>> leaves) const override {
    return residual_quantiles(scores, output, leaves, 0.5);
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) gradient[j] = 2.0 * (score[j] > target[j]) - 1.0;
    std::fill(hessian.begin(), hessian.end(), 1.0);
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) out[j] = std::abs(score[j] - target[j]);
  }
};

}  // namespace

std::unique_ptr<Objective> make_absolute_error(const LossOptions&, const LossData& data) {
  return std::make_unique<AbsoluteErrorLoss>(data);
}

}  // namespace arboleda
