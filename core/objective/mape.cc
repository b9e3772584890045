// Mean absolute percentage error: the absolute error, relative to the size of the target.
//   L = a |F - y|,   L' = a for F > y, else -a,   a = 1 / max(1, |y|)
// Targets below 1 in size count their absolute error, so that those near 0 do not outweigh all others: as
// LightGBM and CatBoost have it. This is the absolute error with weights a, and so is the rest: a stands for the
// second derivative, and each leaf is given the weighted median of its residuals (absolute_error.cc).
// de Myttenaere, Golden, Le Grand, Rossi (2016), "Mean absolute percentage error for regression models",
// Neurocomputing 192: https://doi.org/10.1016/j.neucom.2015.12.114
#include <algorithm>
#include <cmath>

#include "objective/row_objective.h"
#include "objective/weighted_quantile.h"

namespace arboleda {

namespace {

double share_of(double target) { return 1.0 / std::max(1.0, std::abs(target)); }

class Mape final : public SeparableObjective {
 public:
  explicit Mape(const LossData& data) : SeparableObjective(data, 1) {
    std::vector<double> weights(data.target.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = share_of(data.target[i]) * (data.weight.empty() ? 1.0 : data.weight[i]);
    }
    relative_ = fix_weights(weights, weights.size(), 62, data.shards);
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    return {
        weighted_quantile(shards(), targets_of(rows), relative_units(rows), 0.5, Between::midway)};
  }

  bool has_exact_leaf_step() const override { return true; }
  double best_step(std::span<const double> scores, std::size_t output,
                   std::span<const RowIndex> rows) const override {
    return weighted_quantile(residuals(scores, output, rows), relative_units(rows), 0.5,
                             Between::lower);
  }
  std::vector<double> best_steps(std::span<const double> scores, std::size_t output,
                                 std::span<const std::span<const RowIndex>> leaves) const override {
    return residual_quantiles(scores, output, leaves, 0.5, [this](std::span<const RowIndex> rows) {
      return relative_units(rows);
    });
  }

 private:
  std::vector<std::uint64_t> relative_units(std::span<const RowIndex> rows) const {
    std::vector<std::uint64_t> units;
    units.reserve(rows.size());
    for (const RowIndex row : rows) {
      units.push_back(relative_.drops(row) ? 0 : relative_.is_unit() ? 1 : relative_.value[row]);
    }
    return units;
  }

  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      hessian[j] = share_of(target[j]);
      gradient[j] = score[j] > target[j] ? hessian[j] : -hessian[j];
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      out[j] = share_of(target[j]) * std::abs(score[j] - target[j]);
    }
  }

  FixedWeights relative_;  // of the rows, times a
};

}  // namespace

std::unique_ptr<Objective> make_mape(const LossOptions&, const LossData& data) {
  return std::make_unique<Mape>(data);
}

}  // namespace arboleda
