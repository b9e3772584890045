// Pseudo-Huber loss: near half the squared error where the error is small beside delta, near delta times the
// absolute error where it is large, and smooth.
//   r = F - y,   s = sqrt(1 + (r / delta)^2),   L = delta^2 (s - 1),   L' = r / s,   L" = 1 / s^3
// Newton's step with L" is far too long where errors are large: of one row it is r s^2. 1 / s = L' / r stands
// for it, the step of iteratively reweighted least squares, which never raises the loss: of one row it is r.
// Charbonnier, Blanc-Feraud, Aubert, Barlaud (1997), "Deterministic edge-preserving regularization in computed
// imaging", IEEE Transactions on Image Processing 6: https://doi.org/10.1109/83.551699
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/key_search.h"
#include "objective/row_objective.h"

namespace arboleda {

namespace {

class PseudoHuber final : public SeparableObjective {
 public:
  PseudoHuber(double delta, const LossData& data) : SeparableObjective(data, 1), delta_(delta) {
    require(delta > 0.0 && std::isfinite(delta), "the slope of loss 'pseudo_huber' is above 0");
  }

  // Newton's steps for the mean of L', which rises with the score, by bisection where they leave the interval
  // that is known to have the root.
  std::vector<double> start(std::span<const RowIndex> rows) const override {
    const auto y = targets_of(rows);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t j = 0; j < y.size(); ++j) {
      if (units_of(rows[j]) == 0) continue;
      low = std::min(low, y[j]);
      high = std::max(high, y[j]);
    }
    std::array<std::uint64_t, 2> ends{~search_key(low), search_key(high)};
    if (shards() != nullptr) shards()->maximum(ends);
    low = number_of(~ends[0]);
    high = number_of(ends[1]);
    double best = mean_target(rows);
    std::vector<double> slope(y.size()), bend(y.size());
    for (int round = 0; round < 200; ++round) {
      for (std::size_t j = 0; j < y.size(); ++j) {
        const double s = stretch(best - y[j]);
        slope[j] = (best - y[j]) / s;
        bend[j] = 1.0 / s / s / s;
      }
      const double g = weighted_mean(slope, rows);
      if (g == 0.0) break;
      (g > 0.0 ? high : low) = best;
      double next = best - g / weighted_mean(bend, rows);
      if (!(next > low && next < high)) next = low + 0.5 * (high - low);
      if (next == best) break;
      best = next;
    }
    return {best};
  }

 private:
  double stretch(double r) const {
    const double u = std::abs(r / delta_);
    return u < 0x1p500 ? std::sqrt(1.0 + u * u) : u;
  }

  void derivatives(std::size_t, std::span<const double> score, std::span<const double> target,
                   std::span<double> gradient, std::span<double> hessian) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      hessian[j] = 1.0 / stretch(score[j] - target[j]);
      gradient[j] = hessian[j] * (score[j] - target[j]);
    }
  }

  void values(std::size_t, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    for (std::size_t j = 0; j < score.size(); ++j) {
      const double r = score[j] - target[j];
      out[j] = r * (r / (1.0 + stretch(r)));  // delta^2 (s - 1), without the difference
    }
  }

  double delta_;
};

}  // namespace

std::unique_ptr<Objective> make_pseudo_huber(const LossOptions& options, const LossData& data) {
  return std::make_unique<PseudoHuber>(options.huber_slope, data);
}

}  // namespace arboleda
