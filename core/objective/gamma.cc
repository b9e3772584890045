// Half the gamma deviance with a log link, for sizes y > 0 whose spread grows with their mean.
//   mean = exp F,   L = F + y exp(-F),   L' = 1 - y exp(-F),   L" = y exp(-F)
// Left out: -log y - 1, which no score changes. The best constant is the log of the mean target.
// McCullagh, Nelder (1989), "Generalized Linear Models", chapter 8.
#include "objective/row_objective.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class Gamma final : public SeparableObjective {
 public:
  explicit Gamma(const LossData& data) : SeparableObjective(data, 1) {
    check_targets(data.target, "loss 'gamma' needs targets above 0",
                  [](double y) { return y > 0.0; });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    return {stable_log(mean_target(rows))};
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    bounded_exp(score, -1.0, hessian);
    for (std::size_t j = 0; j < score.size(); ++j) {
      hessian[j] *= target[j];
      gradient[j] = 1.0 - hessian[j];
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    bounded_exp(score, -1.0, out);
    for (std::size_t j = 0; j < score.size(); ++j) out[j] = score[j] + target[j] * out[j];
  }
};

}  // namespace

std::unique_ptr<Objective> make_gamma(const LossOptions&, const LossData& data) {
  return std::make_unique<Gamma>(data);
}

}  // namespace arboleda
