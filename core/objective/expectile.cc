// Expectile loss: squared error, with weight q where the target is above the score and 1 - q where it is not.
//   L = |q - [y < F]| (y - F)^2,   L' = 2 |q - [y < F]| (F - y),   L" = 2 |q - [y < F]|
// q = 1/2 is half the squared error. The best constant m solves  q sum (y - m)+ = (1 - q) sum (m - y)+.
// Newey, Powell (1987), "Asymmetric least squares estimation and testing", Econometrica 55:
// https://doi.org/10.2307/1911031
#include "base/error.h"
#include "objective/row_objective.h"

namespace arboleda {

namespace {

class Expectile final : public SeparableObjective {
 public:
  Expectile(double level, const LossData& data) : SeparableObjective(data, 1), level_(level) {
    require(level > 0.0 && level < 1.0, "the level of loss 'expectile' lies between 0 and 1");
  }

  // Reweighted means: each is the best constant for the sides that the one before has. There are finitely many
  // sides, and the loss falls until they repeat.
  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto y = targets_of(rows);
    double best = weighted_mean(y, rows);
    for (int round = 0; round < 100; ++round) {
      // The mean of the distances, each with its side's weight: 0 at the best constant.
      std::vector<double> pull(y.size()), share(y.size());
      for (std::size_t j = 0; j < y.size(); ++j) {
        share[j] = side(y[j], best);
        pull[j] = share[j] * (y[j] - best);
      }
      const double step = weighted_mean(pull, rows) / weighted_mean(share, rows);
      if (best + step == best) break;
      best += step;
    }
    return {best};
  }

 private:
  double side(double target, double score) const { return target < score ? 1.0 - level_ : level_; }

  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      hessian[j] = 2.0 * side(target[j], score[j]);
      gradient[j] = hessian[j] * (score[j] - target[j]);
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double r = score[j] - target[j];
      out[j] = side(target[j], score[j]) * r * r;
    }
  }

  double level_;
};

}  // namespace

std::unique_ptr<Objective> make_expectile(const LossOptions& options, const LossData& data) {
  return std::make_unique<Expectile>(options.expectile, data);
}

}  // namespace arboleda
