// Quantile (pinball) loss, for several levels q at once: one score a level.
//   L = q (y - F) for y >= F, (1 - q) (F - y) else,   L' = -q for y >= F, 1 - q else
// The second derivative is 0 where there is one; 1 stands for it, and each leaf is given the
// quantile of its residuals, as in Friedman (2001), algorithm 3 (q = 1/2, but for the factor 2).
// Koenker, Bassett (1978), "Regression quantiles", Econometrica 46: https://doi.org/10.2307/1913643
//
// Where a whole interval is best (weighted_quantile.h), the start is its middle and a leaf takes its
// lower end, as scikit-learn's GradientBoostingRegressor does. (That one starts between two targets
// where no weights are given, though only one of them is best.)
#include <algorithm>

#include "base/error.h"
#include "objective/row_objective.h"
#include "objective/weighted_quantile.h"

namespace arboleda {

namespace {

class Quantile final : public SeparableObjective {
 public:
  Quantile(const std::vector<double>& levels, const LossData& data)
      : SeparableObjective(data, levels.size()), levels_(levels) {
    require(!levels_.empty(), "loss 'quantile' needs at least one level");
    for (const double q : levels_) {
      require(q > 0.0 && q < 1.0, "levels of loss 'quantile' lie between 0 and 1");
    }
  }

  bool has_unit_hessian() const override { return is_unweighted(); }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto targets = targets_of(rows);
    const auto units = units_of(rows);
    std::vector<double> scores;
    for (const double q : levels_) {
      scores.push_back(weighted_quantile(shards(), targets, units, q, Between::midway));
    }
    return scores;
  }

  bool has_exact_leaf_step() const override { return true; }
  double best_step(std::span<const double> scores, std::size_t output,
                   std::span<const RowIndex> rows) const override {
    return weighted_quantile(residuals(scores, output, rows), units_of(rows), levels_[output],
                             Between::lower);
  }
  std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                 std::span<const std::span<const RowIndex>> leaves) const override {
    return residual_quantiles(scores, output, leaves, levels_[output]);
  }

 private:
  void derivatives(std::size_t output, std::span<const double> score,
                   std::span<const double> target, std::span<double> gradient,
                   std::span<double> hessian) const override {
    const double q = levels_[output];
    for (std::size_t j = 0; j < score.size(); ++j) {
      gradient[j] = (score[j] > target[j]) - q;
    }
    std::fill(hessian.begin(), hessian.end(), 1.0);
  }

  void values(std::size_t output, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    const double q = levels_[output];
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double r = target[j] - score[j];
      out[j] = std::max(q * r, (q - 1.0) * r);
    }
  }

  std::vector<double> levels_;
};

}  // namespace

std::unique_ptr<Objective> make_quantile(const LossOptions& options, const LossData& data) {
  return std::make_unique<Quantile>(options.levels, data);
}

}  // namespace arboleda
