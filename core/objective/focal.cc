// Focal loss of two classes: log-loss that rows count less for, the better they are predicted.
//
// With y in {0, 1}, z = F for y = 1, -F for y = 0, p = 1 / (1 + exp(-z)) the probability of the row's class and
// q = 1 - p:
//   L  = -q^g log p
//   L' = q^g (g p log p - q)   by z
//   L" = q^g p (q (1 + 2 g + g log p) - g^2 p log p)
// g = 0 is log-loss. L" is negative for rows that are predicted very badly; where it is below q^g p q, the
// second derivative of log-loss times the factor of the row, that one stands for it.
// T.-Y. Lin, P. Goyal, R. Girshick, K. He, P. Dollar (2017), "Focal loss for dense object detection", ICCV:
// https://arxiv.org/abs/1708.02002
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "objective/row_objective.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

class Focal final : public SeparableObjective {
 public:
  Focal(double gamma, const LossData& data) : SeparableObjective(data, 1), gamma_(gamma) {
    require(gamma >= 0.0 && std::isfinite(gamma), "gamma of loss 'focal' is not negative");
    check_targets(data.target, "loss 'focal' needs targets 0 and 1",
                  [](double y) { return y == 0.0 || y == 1.0; });
  }

  // The root of the mean slope, which rises with the score, by bisection.
  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto share = class_shares(rows, 2);
    double low = -64.0, high = 64.0;
    for (;;) {
      const double middle = 0.5 * (low + high);
      if (middle == low || middle == high) return {middle};
      const std::array<double, 2> score = {middle, middle}, target = {0.0, 1.0};
      std::array<double, 2> slope, bend;
      derivatives(0, score, target, slope, bend);
      (share[0] * slope[0] + share[1] * slope[1] > 0.0 ? high : low) = middle;
    }
  }

 private:
  // Of a block of rows: log p, and q^g.
  struct Block {
    std::array<double, kLossBlock> log_p, p, q, factor;

    Block(std::span<const double> score, std::span<const double> target, double gamma) {
      const auto& math = kernels().math;
      const std::size_t n = score.size();
      std::array<double, kLossBlock> z;
      for (std::size_t j = 0; j < n; ++j) z[j] = (2.0 * target[j] - 1.0) * score[j];
      math.softplus(z.data(), n, q.data());  // -log q
      for (std::size_t j = 0; j < n; ++j) factor[j] = -gamma * q[j];
      for (std::size_t j = 0; j < n; ++j) z[j] = -z[j];
      math.softplus(z.data(), n, p.data());  // -log p
      for (std::size_t j = 0; j < n; ++j) log_p[j] = -p[j];
      for (std::size_t j = 0; j < n; ++j) z[j] = -q[j];
      math.exp(z.data(), n, q.data());
      math.exp(log_p.data(), n, p.data());
      std::copy_n(factor.begin(), n, z.begin());
      math.exp(z.data(), n, factor.data());
    }
  };

  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    const Block at(score, target, gamma_);
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double p = at.p[j], q = at.q[j], log_p = at.log_p[j];
      const double slope = at.factor[j] * (gamma_ * p * log_p - q);
      const double bend = q * (1.0 + 2.0 * gamma_ + gamma_ * log_p) - gamma_ * gamma_ * p * log_p;
      gradient[j] = (2.0 * target[j] - 1.0) * slope;
      hessian[j] = at.factor[j] * p * std::max(bend, q);
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    const Block at(score, target, gamma_);
    for (std::size_t j = 0; j < score.size(); ++j) out[j] = -at.factor[j] * at.log_p[j];
  }

  double gamma_;
};

}  // namespace

std::unique_ptr<Objective> make_focal(const LossOptions& options, const LossData& data) {
  return std::make_unique<Focal>(options.focal_gamma, data);
}

}  // namespace arboleda
