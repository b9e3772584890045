// Half the Tweedie deviance with a log link, for sums of a random number of positive sizes: y >= 0,
// often exactly 0, variance ~ mean^p with 1 < p < 2.
//   mean = exp F,   a = exp((2-p) F),   b = y exp((1-p) F)
//   L = a / (2-p) - b / (1-p),   L' = a - b,   L" = (2-p) a + (p-1) b
// Left out: y^(2-p) / ((1-p)(2-p)), which no score changes. The best constant is the log of the mean
// target. Jorgensen (1987), "Exponential dispersion models", JRSS B 49; Dunn, Smyth (2005), "Series
// evaluation of Tweedie exponential dispersion model densities": https://doi.org/10.1007/s11222-005-4070-y
#include <array>

#include "base/error.h"
#include "objective/row_objective.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class Tweedie final : public SeparableObjective {
 public:
  Tweedie(double power, const LossData& data) : SeparableObjective(data, 1), power_(power) {
    require(power > 1.0 && power < 2.0, "power of loss 'tweedie' lies between 1 and 2");
    check_targets(data.target, "loss 'tweedie' needs targets that are not negative",
                  [](double y) { return y >= 0.0; });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const double mean = mean_target(rows);
    require(mean > 0.0, "loss 'tweedie' needs a positive target in a row of positive weight");
    return {stable_log(mean)};
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    bounded_exp(score, 2.0 - power_, gradient);
    bounded_exp(score, 1.0 - power_, hessian);
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double a = gradient[j];
      const double b = target[j] * hessian[j];
      gradient[j] = a - b;
      hessian[j] = (2.0 - power_) * a + (power_ - 1.0) * b;
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    std::array<double, kLossBlock> a;
    bounded_exp(score, 2.0 - power_, std::span(a).first(score.size()));
    bounded_exp(score, 1.0 - power_, out);
    for (std::size_t j = 0; j < score.size(); ++j) {
      out[j] = a[j] / (2.0 - power_) - target[j] * out[j] / (1.0 - power_);
    }
  }

  double power_;
};

}  // namespace

std::unique_ptr<Objective> make_tweedie(const LossOptions& options, const LossData& data) {
  return std::make_unique<Tweedie>(options.power, data);
}

}  // namespace arboleda
