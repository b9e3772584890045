// Half the Poisson deviance with a log link, for counts and rates y >= 0.
//   mean = exp F,   L = exp F - y F,   L' = exp F - y,   L" = exp F
// Left out: y log y - y, which no score changes. The best constant is the log of the mean target.
// McCullagh, Nelder (1989), "Generalized Linear Models", section 2.3.
#include "base/error.h"
#include "objective/row_objective.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class PoissonLoss final : public SeparableObjective {
 public:
  explicit PoissonLoss(const LossData& data) : SeparableObjective(data, 1) {
    check_targets(data.target, "loss 'poisson' needs targets that are not negative",
                  [](double y) { return y >= 0.0; });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const double mean = mean_target(rows);
    require(mean > 0.0, "loss 'poisson' needs a positive target in a row of positive weight");
    return {stable_log(mean)};
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    bounded_exp(score, 1.0, hessian);
    for (std::size_t j = 0; j < score.size(); ++j) gradient[j] = hessian[j] - target[j];
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    bounded_exp(score, 1.0, out);
    for (std::size_t j = 0; j < score.size(); ++j) out[j] -= target[j] * score[j];
  }
};

}  // namespace

std::unique_ptr<Objective> make_poisson(const LossOptions&, const LossData& data) {
  return std::make_unique<PoissonLoss>(data);
}

}  // namespace arboleda
