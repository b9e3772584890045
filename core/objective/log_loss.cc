// Log-loss of two classes: Bernoulli's negative log-likelihood, one score a row.
//
// With y in {0, 1} and p = 1 / (1 + exp(-F)):
//   L  = -y log p - (1 - y) log(1 - p) = log(1 + exp F) - y F = log(1 + exp t),  t = F for y = 0, -F for 1
//   L' = p - y
//   L" = p (1 - p)
// The best constant is log(p / (1 - p)) of the share p of class 1. Friedman (2001), "Greedy function
// approximation: a gradient boosting machine", Annals of Statistics 29, section 4.5, with F for his 2F:
// https://doi.org/10.1214/aos/1013203451
#include <array>

#include "base/error.h"
#include "objective/row_objective.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class LogLoss final : public SeparableObjective {
 public:
  explicit LogLoss(const LossData& data) : SeparableObjective(data, 1) {
    check_targets(data.target, "loss 'log_loss' of two classes needs targets 0 and 1",
                  [](double y) { return y == 0.0 || y == 1.0; });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto share = class_shares(rows, 2);
    return {stable_log(share[1] / share[0])};
  }

 private:
  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    kernels().math.logistic(score.data(), target.data(), score.size(), gradient.data(),
                            hessian.data());
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    std::array<double, kLossBlock> t;
    for (std::size_t j = 0; j < score.size(); ++j) t[j] = (1.0 - 2.0 * target[j]) * score[j];
    kernels().math.softplus(t.data(), score.size(), out.data());
  }
};

}  // namespace

std::unique_ptr<Objective> make_log_loss(const LossOptions& options, const LossData& data) {
  require(options.n_classes >= 2, "loss 'log_loss' needs at least two classes");
  if (options.n_classes > 2) return make_softmax(options, data);
  return std::make_unique<LogLoss>(data);
}

}  // namespace arboleda
