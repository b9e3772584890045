#include "objective/distribution_objective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/exact_sum.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kLeastScale = 1e-6;  // of the unit
constexpr double kLeastInformation = 1e-12;

using ParameterBlocks = std::array<ParameterBlock, kMostParameters>;

}  // namespace

DistributionObjective::DistributionObjective(const LossData& data,
                                             std::vector<ParameterInfo> parameters)
    : RowObjective(data, parameters.size()), parameters_(std::move(parameters)) {}

double DistributionObjective::mean_square(std::span<const double> x,
                                          std::span<const RowIndex> rows) const {
  Magnitude largest;
  for (const double value : x) largest.see(value);
  see_all(shards(), std::span(&largest, 1));
  if (largest.value() == 0.0) return 0.0;
  const double scale = std::ldexp(1.0, std::ilogb(largest.value()));
  std::vector<double> squares;
  squares.reserve(x.size());
  for (const double value : x) squares.push_back((value / scale) * (value / scale));
  return weighted_mean(squares, rows) * scale * scale;
}

void DistributionObjective::measure_unit() {
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < n_rows(); ++i) {
    if (units_of(static_cast<RowIndex>(i)) > 0) rows.push_back(static_cast<RowIndex>(i));
  }
  std::vector<double> y = targets_of(rows);
  const double mean = weighted_mean(y, rows);
  for (double& value : y) value -= mean;
  double spread = std::sqrt(mean_square(y, rows));
  if (!(spread > 1e-12 * std::abs(mean))) spread = std::abs(mean);
  if (spread > 0.0) unit_ = std::ldexp(1.0, std::ilogb(spread));
  for (ParameterInfo& parameter : parameters_) {
    if (parameter.scale != ParameterScale::logarithm) continue;
    parameter.low = std::max(parameter.low, stable_log(kLeastScale) + stable_log(unit_));
    break;
  }
}

double DistributionObjective::step(std::size_t output, double newton) const {
  const ParameterInfo& parameter = parameters_[output];
  const double c = parameter.curvature;
  if (parameter.scale == ParameterScale::location) return unit_ * newton;
  if (parameter.scale == ParameterScale::logit) return std::clamp(newton, -2.0, 2.0);
  return newton > 0.0 ? stable_log(1.0 + c * newton) / c : std::max(newton, -1.0 / c);
}

// Fisher's scoring from the guess, with steps that are halved until the loss falls.
std::vector<double> DistributionObjective::start(std::span<const RowIndex> rows) const {
  constexpr int kMostSteps = 60;
  constexpr double kClose = 1e-8;
  std::vector<double> theta = guess(rows);
  double least = mean_loss_of_constants(theta, rows), factor = 1.0;
  std::vector<double> newton = newton_of_constants(theta, rows);
  for (int i = 0; i < kMostSteps; ++i) {
    std::vector<double> next = theta;
    double largest = 0.0;
    for (std::size_t k = 0; k < theta.size(); ++k) {
      next[k] += factor * step(k, newton[k]);
      largest = std::max(largest, std::abs(factor * newton[k]));
    }
    if (largest < kClose) break;
    const double loss = mean_loss_of_constants(next, rows);
    factor = loss < least ? std::min(2.0 * factor, 1.0) : 0.5 * factor;
    if (loss >= least) continue;
    least = loss;
    theta = std::move(next);
    newton = newton_of_constants(theta, rows);
  }
  return theta;
}

std::vector<double> DistributionObjective::newton_of_constants(
    const std::vector<double>& theta, std::span<const RowIndex> rows) const {
  const std::vector<double> y = targets_of(rows);
  std::vector<double> gradient(theta.size() * rows.size()), hessian(gradient.size());
  ParameterBlocks scores;
  for (std::size_t k = 0; k < theta.size(); ++k) scores[k].fill(theta[k]);
  for (std::size_t begin = 0; begin < rows.size(); begin += kLossBlock) {
    DistributionRows block{std::min(kLossBlock, rows.size() - begin), &y[begin], {}};
    double *g[kMostParameters], *h[kMostParameters];
    for (std::size_t k = 0; k < theta.size(); ++k) {
      block.score[k] = scores[k].data();
      g[k] = &gradient[k * rows.size() + begin];
      h[k] = &hessian[k * rows.size() + begin];
    }
    derive_bounded(block, g, h);
  }
  std::vector<double> newton;
  for (std::size_t k = 0; k < theta.size(); ++k) {
    const auto mean = [&](const std::vector<double>& all) {
      return weighted_mean(std::span(all).subspan(k * rows.size(), rows.size()), rows);
    };
    const double information = mean(hessian);
    newton.push_back(information > 0.0 ? -mean(gradient) / information : 0.0);
  }
  return newton;
}

double DistributionObjective::mean_loss_of_constants(const std::vector<double>& theta,
                                                     std::span<const RowIndex> rows) const {
  const std::vector<double> y = targets_of(rows);
  std::vector<double> loss(rows.size());
  ParameterBlocks scores;
  for (std::size_t begin = 0; begin < rows.size(); begin += kLossBlock) {
    DistributionRows block{std::min(kLossBlock, rows.size() - begin), &y[begin], {}};
    for (std::size_t k = 0; k < theta.size(); ++k) {
      scores[k].fill(theta[k]);
      clamp(k, scores[k].data(), block.n, scores[k].data());
      block.score[k] = scores[k].data();
    }
    values(block, &loss[begin]);
  }
  return weighted_mean(loss, rows);
}

void DistributionObjective::clamp(std::size_t output, const double* score, std::size_t n,
                                  double* out) const {
  const ParameterInfo& parameter = parameters_[output];
  for (std::size_t j = 0; j < n; ++j) out[j] = std::clamp(score[j], parameter.low, parameter.high);
}

void DistributionObjective::derive_bounded(const DistributionRows& rows, double* const* gradient,
                                           double* const* hessian) const {
  ParameterBlocks scores;
  DistributionRows bounded = rows;
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    clamp(k, rows.score[k], rows.n, scores[k].data());
    bounded.score[k] = scores[k].data();
  }
  derive(bounded, gradient, hessian);
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    for (std::size_t j = 0; j < rows.n; ++j) {
      if (stays(k, rows.score[k][j], gradient[k][j])) gradient[k][j] = 0.0;
    }
  }
}

void DistributionObjective::unit_gradients(std::span<const double> scores, std::size_t begin,
                                           std::size_t end, std::span<double> gradient,
                                           std::span<double> hessian) const {
  DistributionRows rows{end - begin, &target()[begin], {}};
  double *g[kMostParameters], *h[kMostParameters];
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    rows.score[k] = &scores[k * n_rows() + begin];
    g[k] = &gradient[k * n_rows() + begin];
    h[k] = &hessian[k * n_rows() + begin];
  }
  derive_bounded(rows, g, h);
}

void DistributionObjective::unit_losses(std::span<const double> scores,
                                        std::span<const RowIndex> rows,
                                        std::span<double> out) const {
  ParameterBlock y;
  ParameterBlocks score;
  DistributionRows block{rows.size(), y.data(), {}};
  for (std::size_t j = 0; j < rows.size(); ++j) y[j] = target()[rows[j]];
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    const double* of_output = &scores[k * n_rows()];
    for (std::size_t j = 0; j < rows.size(); ++j) score[k][j] = of_output[rows[j]];
    clamp(k, score[k].data(), rows.size(), score[k].data());
    block.score[k] = score[k].data();
  }
  values(block, out.data());
}

TwoScores efficient(const TwoScores& raw, double off_diagonal) {
  TwoScores out;
  for (const int k : {0, 1}) {
    const double share = off_diagonal / std::max(raw.hessian[1 - k], kLeastInformation);
    out.gradient[k] = raw.gradient[k] - share * raw.gradient[1 - k];
    out.hessian[k] = std::max(raw.hessian[k] - share * off_diagonal, kLeastInformation);
  }
  return out;
}

std::unique_ptr<Objective> make_distribution(const LossOptions& options, const LossData& data) {
  const std::string_view name = options.name;
  require(options.score == "nll" || options.score == "crps", "score is 'nll' or 'crps'");
  if (name == "normal" || name == "lognormal" || name == "laplace") {
    return make_location_scale(options, data);
  }
  require(options.score == "nll", "only location-scale families have the score 'crps'");
  if (name == "student_t") return make_student_t(data);
  if (name == "gamma") return make_gamma_distribution(data);
  return make_counts(options, data);
}

}  // namespace arboleda
