// Logistic hazards of periods, one score each: p_k = 1 / (1 + exp -F_k) is the probability of the event in period k of
// a row that had none before. The loss is the log-loss of the periods at which the row was at risk:
//   event in period j: periods 0 .. j, with class 1 in j;   censored after c periods: 0 .. c-1, of class 0.
// The best constants are the log-odds of the shares of events among rows at risk.
// Singer, Willett (1993), "It's about time: using discrete-time survival analysis to study duration and the timing of
// events", Journal of Educational Statistics 18, https://doi.org/10.3102/10769986018002155
//
// A target is j, or -c (-0 too).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "objective/row_objective.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Of events among rows at risk, for finite log-odds.
constexpr double kLeastShare = 1e-6;

class DiscreteTime final : public SeparableObjective {
 public:
  DiscreteTime(std::size_t n_periods, const LossData& data) : SeparableObjective(data, n_periods) {
    const auto n = static_cast<double>(n_periods);
    check_targets(data.target, "loss 'discrete_time' needs numbers of periods", [n](double y) {
      return y == std::floor(y) && (std::signbit(y) ? -y <= n : y < n);
    });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    // at_risk[k]: of rows whose last period at risk is k - 1, and then of those that were at risk in k - 1.
    std::vector<std::uint64_t> events(n_outputs()), at_risk(n_outputs() + 1);
    for (const RowIndex row : rows) {
      const double y = target()[row];
      const auto period = static_cast<std::size_t>(std::abs(y));
      if (!std::signbit(y)) events[period] += units_of(row);
      at_risk[std::signbit(y) ? period : period + 1] += units_of(row);
    }
    add_all(shards(), std::span(events));
    add_all(shards(), std::span(at_risk));
    for (std::size_t k = n_outputs(); k-- > 0;) at_risk[k] += at_risk[k + 1];
    std::vector<double> scores;
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      const double share = at_risk[k + 1] == 0 ? 0.0
                                               : static_cast<double>(events[k]) /
                                                     static_cast<double>(at_risk[k + 1]);
      const double p = std::clamp(share, kLeastShare, 1.0 - kLeastShare);
      scores.push_back(stable_log(p / (1.0 - p)));
    }
    return scores;
  }

 private:
  // Whether a row was at risk in a period.
  static bool is_at_risk(double y, double period) {
    return std::signbit(y) ? period < -y : period <= y;
  }

  void derivatives(std::size_t output, std::span<const double> score,
                   std::span<const double> target, std::span<double> gradient,
                   std::span<double> hessian) const override {
    std::array<double, kLossBlock> is_event;
    const auto period = static_cast<double>(output);
    for (std::size_t j = 0; j < score.size(); ++j) {
      is_event[j] = !std::signbit(target[j]) && target[j] == period ? 1.0 : 0.0;
    }
    kernels().math.logistic(score.data(), is_event.data(), score.size(), gradient.data(),
                            hessian.data());
    for (std::size_t j = 0; j < score.size(); ++j) {
      if (is_at_risk(target[j], period)) continue;
      gradient[j] = 0.0;
      hessian[j] = 0.0;
    }
  }

  void values(std::size_t output, std::span<const double> score, std::span<const double> target,
              std::span<double> out) const override {
    std::array<double, kLossBlock> t;
    const auto period = static_cast<double>(output);
    for (std::size_t j = 0; j < score.size(); ++j) {
      t[j] = !std::signbit(target[j]) && target[j] == period ? -score[j] : score[j];
    }
    kernels().math.softplus(t.data(), score.size(), out.data());
    for (std::size_t j = 0; j < score.size(); ++j) {
      if (!is_at_risk(target[j], period)) out[j] = 0.0;
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_discrete_time(const LossOptions& options, const LossData& data) {
  require(options.n_classes >= 1, "loss 'discrete_time' needs at least one period");
  return std::make_unique<DiscreteTime>(options.n_classes, data);
}

}  // namespace arboleda
