// Half the squared error: least squares, and half the deviance of a normal distribution.
//   L = (F - y)^2 / 2,   L' = F - y,   L" = 1
// The best constant is the mean; so is Newton's step in a leaf, of its residuals.
// Friedman (2001), algorithm 2: https://doi.org/10.1214/aos/1013203451
#include <algorithm>

#include "objective/row_objective.h"

namespace arboleda {

namespace {

class SquaredErrorLoss final : public SeparableObjective {
 public:
  explicit SquaredErrorLoss(const LossData& data) : SeparableObjective(data, 1) {}

  bool has_unit_hessian() const override { return is_unweighted(); }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    return {mean_target(rows)};
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) gradient[j] = score[j] - target[j];
    std::fill(hessian.begin(), hessian.end(), 1.0);
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double r = score[j] - target[j];
      out[j] = 0.5 * r * r;
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_squared_error(const LossOptions&, const LossData& data) {
  return std::make_unique<SquaredErrorLoss>(data);
}

}  // namespace arboleda
