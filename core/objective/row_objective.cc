#include "objective/row_objective.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/exact_sum.h"
#include "simd/kernels.h"

namespace arboleda {

RowObjective::RowObjective(const LossData& data, std::size_t n_outputs)
    : Objective(data.target.size(), n_outputs),
      data_(data),
      fixed_(fix_weights(data.weight, data.target.size(), 62, data.shards)) {
  check_targets(data.target, "targets must be finite", [](double y) { return std::isfinite(y); });
}

void RowObjective::gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                             std::span<double> gradient, std::span<double> hessian) const {
  for (std::size_t i = begin; i < end; i += kLossBlock) {
    const std::size_t stop = std::min(end, i + kLossBlock);
    unit_gradients(scores, i, stop, gradient, hessian);
    for (std::size_t k = 0; k < n_outputs() && !is_unweighted(); ++k) {
      const std::size_t at = k * n_rows() + i;
      weigh(i, gradient.subspan(at, stop - i), hessian.subspan(at, stop - i));
    }
  }
}

void RowObjective::weigh(std::size_t begin, std::span<double> gradient,
                         std::span<double> hessian) const {
  const std::span weight = data_.weight.subspan(begin, gradient.size());
  for (std::size_t j = 0; j < weight.size(); ++j) gradient[j] *= weight[j];
  for (std::size_t j = 0; j < weight.size(); ++j) hessian[j] *= weight[j];
}

void RowObjective::losses(std::span<const double> scores, std::span<const RowIndex> rows,
                          std::span<double> out) const {
  for (std::size_t j = 0; j < rows.size(); j += kLossBlock) {
    const std::size_t n = std::min(kLossBlock, rows.size() - j);
    const auto block = rows.subspan(j, n);
    unit_losses(scores, block, out.subspan(j, n));
    if (is_unweighted()) continue;
    for (std::size_t i = 0; i < n; ++i) {
      const double w = data_.weight[block[i]];
      out[j + i] = w == 0.0 ? 0.0 : w * out[j + i];  // even where the loss is infinite
    }
  }
}

std::uint64_t RowObjective::units_of(RowIndex row) const {
  if (!fixed_.dropped.empty() && fixed_.dropped[row]) return 0;
  return fixed_.is_unit() ? 1 : fixed_.value[row];
}

std::vector<std::uint64_t> RowObjective::units_of(std::span<const RowIndex> rows) const {
  if (fixed_.is_unit() && fixed_.dropped.empty()) return {};
  std::vector<std::uint64_t> units;
  units.reserve(rows.size());
  for (const RowIndex row : rows) units.push_back(units_of(row));
  return units;
}

double RowObjective::total_weight(std::span<const RowIndex> rows) const {
  std::uint64_t units = 0;
  for (const RowIndex row : rows) units += units_of(row);
  return static_cast<double>(sum_of_all(shards(), units)) * fixed_.unit;
}

Magnitude RowObjective::largest_of(std::span<const double> x,
                                   std::span<const RowIndex> rows) const {
  Magnitude largest;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (units_of(rows[j]) > 0) largest.see(x[j]);
  }
  return largest;
}

RowObjective::WeightedSum RowObjective::sum_of(std::span<const double> x,
                                               std::span<const RowIndex> rows,
                                               const SumScale& scale) const {
  Int128 sum = 0;  // 62 bits of x times 62 bits of weight
  std::int64_t total = 0;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const std::uint64_t units = units_of(rows[j]);
    if (units == 0) continue;
    sum += Int128{scale.to_units(x[j])} * Int128{units};
    total += static_cast<std::int64_t>(units);
  }
  return {ExactSum(sum), ExactSum(total)};
}

double RowObjective::mean_of(const SumScale& scale, std::span<const ExactSum, 2> sums) {
  return scale.to_real(static_cast<double>(sums[0].units()) / static_cast<double>(sums[1].units()));
}

double RowObjective::weighted_mean(std::span<const double> x, std::span<const RowIndex> rows,
                                   const Shards* shards) const {
  Magnitude largest = largest_of(x, rows);
  see_all(shards, std::span(&largest, 1));
  const SumScale scale(largest);
  WeightedSum sums = sum_of(x, rows, scale);
  add_all(shards, std::span(sums));
  require(sums[1].units() > 0, "at least one row of positive weight is needed");
  return mean_of(scale, sums);
}

double RowObjective::mean_target(std::span<const RowIndex> rows) const {
  return weighted_mean(targets_of(rows), rows);
}

std::vector<double> RowObjective::targets_of(std::span<const RowIndex> rows) const {
  std::vector<double> y;
  y.reserve(rows.size());
  for (const RowIndex row : rows) y.push_back(data_.target[row]);
  return y;
}

std::vector<double> RowObjective::class_shares(std::span<const RowIndex> rows,
                                               std::size_t n_classes) const {
  std::vector<std::uint64_t> units(n_classes);
  for (const RowIndex row : rows) {
    units[static_cast<std::size_t>(data_.target[row])] += units_of(row);
  }
  add_all(shards(), std::span(units));
  std::uint64_t total = 0;
  for (const auto u : units) total += u;
  require(total > 0, "at least one row of positive weight is needed");
  constexpr double kLeast = 10 * std::numeric_limits<double>::epsilon();
  std::vector<double> shares;
  for (const auto u : units) {
    const double share = static_cast<double>(u) / static_cast<double>(total);
    shares.push_back(std::clamp(share, kLeast, 1 - kLeast));
  }
  return shares;
}

std::vector<double> RowObjective::residuals(std::span<const double> scores, std::size_t output,
                                            std::span<const RowIndex> rows) const {
  const auto score = scores.subspan(output * n_rows(), n_rows());
  std::vector<double> r;
  r.reserve(rows.size());
  for (const RowIndex row : rows) r.push_back(data_.target[row] - score[row]);
  return r;
}

void SeparableObjective::unit_gradients(std::span<const double> scores, std::size_t begin,
                                        std::size_t end, std::span<double> gradient,
                                        std::span<double> hessian) const {
  const std::size_t n = end - begin;
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    const std::size_t at = k * n_rows() + begin;
    derivatives(k, scores.subspan(at, n), target().subspan(begin, n), gradient.subspan(at, n),
                hessian.empty() ? hessian : hessian.subspan(at, n));
  }
}

void SeparableObjective::block_gradients(std::size_t output, std::span<const double> scores,
                                         std::size_t begin, std::size_t end,
                                         std::span<double> gradient,
                                         std::span<double> hessian) const {
  for (std::size_t i = begin; i < end; i += kLossBlock) {
    const std::size_t n = std::min(kLossBlock, end - i);
    const auto g = gradient.subspan(i - begin, n);
    const auto h = hessian.empty() ? hessian : hessian.subspan(i - begin, n);
    derivatives(output, scores.subspan(output * n_rows() + i, n), target().subspan(i, n), g, h);
    if (!is_unweighted()) weigh(i, g, h);
  }
}

void SeparableObjective::unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                                     std::span<double> out) const {
  std::array<double, kLossBlock> f, y, value;
  const std::size_t n = rows.size();
  for (std::size_t j = 0; j < n; ++j) y[j] = target()[rows[j]];
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    for (std::size_t j = 0; j < n; ++j) f[j] = scores[k * n_rows() + rows[j]];
    values(k, std::span(f).first(n), std::span(y).first(n), std::span(value).first(n));
    for (std::size_t j = 0; j < n; ++j) out[j] = k == 0 ? value[j] : out[j] + value[j];
  }
}

void refuse_target(const char* needs, std::size_t row, double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  throw Error(ErrorKind::invalid_argument, std::string(needs) + "; row " + std::to_string(row) +
                                               " has " + std::string(text.data(), end));
}

void bounded_exp(std::span<const double> score, double factor, std::span<double> out) {
  constexpr double kMost = 300.0;
  std::array<double, kLossBlock> x;
  for (std::size_t j = 0; j < score.size(); ++j) {
    const double exponent = factor * score[j];
    x[j] = exponent > kMost ? kMost : exponent;
  }
  kernels().math.exp(x.data(), score.size(), out.data());
}

}  // namespace arboleda
