// Exponential loss of two classes: the one that AdaBoost minimises.
//
// With y in {0, 1} and t = F for y = 0, -F for y = 1 (minus the margin):
//   L  = exp t
//   L' = exp t for y = 0, -exp t for y = 1
//   L" = exp t
// The expected loss is least at F = 1/2 log(p / (1 - p)), so p = 1 / (1 + exp(-2F)): Friedman, Hastie,
// Tibshirani (2000), "Additive logistic regression", Annals of Statistics 28, lemma 1.
// https://doi.org/10.1214/aos/1016218223
#include <array>

#include "objective/row_objective.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class Exponential final : public SeparableObjective {
 public:
  explicit Exponential(const LossData& data) : SeparableObjective(data, 1) {
    check_targets(data.target, "loss 'exponential' needs targets 0 and 1",
                  [](double y) { return y == 0.0 || y == 1.0; });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto share = class_shares(rows, 2);
    return {0.5 * stable_log(share[1] / share[0])};
  }

 private:
  void derivatives(std::size_t output, std::span<const double> score,
                   std::span<const double> target, std::span<double> gradient,
                   std::span<double> hessian) const override {
    values(output, score, target, hessian);
    for (std::size_t j = 0; j < score.size(); ++j) {
      gradient[j] = (1.0 - 2.0 * target[j]) * hessian[j];
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    std::array<double, kLossBlock> t;
    for (std::size_t j = 0; j < score.size(); ++j) t[j] = (1.0 - 2.0 * target[j]) * score[j];
    bounded_exp(std::span(t).first(score.size()), 1.0, out);
  }
};

}  // namespace

std::unique_ptr<Objective> make_exponential(const LossOptions&, const LossData& data) {
  return std::make_unique<Exponential>(data);
}

}  // namespace arboleda
