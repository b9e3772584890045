#include "learn/gradient_threshold.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/exact_sum.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kThresholdRows = std::uint64_t{1} << 15;
constexpr std::uint64_t kRunRows = 16;  // a cache line or two of each array

// How much a hessian counts beside a gradient, in the ratio of their mean squares.
constexpr double kHessianShare = 0.1;

using Places = std::span<const std::vector<double>>;

SumScale scale_of(Places places) {
  Magnitude largest;
  for (const auto& numbers : places) largest.see(magnitude_of(numbers));
  return SumScale(largest);
}

double sum_of(Places places) {
  const SumScale scale = scale_of(places);
  ExactSum sum;
  for (const auto& numbers : places) {
    for (const double x : numbers) sum.add(scale, x);
  }
  return sum.to_real(scale);
}

// The mu with  sum over sizes of min(1, size/mu) = wanted. Rows of at least mu count 1 each, the others
// share what is left of the wanted sum; that lowers mu, until no further row reaches it.
double find_mu(Places sizes, double wanted) {
  const SumScale scale = scale_of(sizes);
  std::vector<std::vector<std::int64_t>> units(sizes.size());  // whole ones, of each size
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    for (const double size : sizes[p]) units[p].push_back(scale.to_units(size));
  }
  double mu = std::numeric_limits<double>::infinity();
  for (std::size_t n_certain = 0;;) {
    std::size_t certain = 0;
    ExactSum sum;
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      for (std::size_t i = 0; i < units[p].size(); ++i) {
        const bool is_certain = sizes[p][i] >= mu;
        certain += is_certain ? 1 : 0;
        sum.add(is_certain ? 0 : units[p][i]);
      }
    }
    const double rest = sum.to_real(scale);
    const double others = wanted - static_cast<double>(certain);
    if (mu != std::numeric_limits<double>::infinity() && certain == n_certain) return mu;
    if (!(others > 0.0 && rest > 0.0)) return mu;
    n_certain = certain;
    mu = rest / others;
  }
}

}  // namespace

std::vector<RowIndex> rows_in_runs(std::span<const RowIndex> rows, std::uint64_t offset,
                                   std::uint64_t n_all) {
  const std::uint64_t step = std::max<std::uint64_t>(1, n_all / kThresholdRows);
  std::vector<RowIndex> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some),
               [&](RowIndex row) { return (offset + row) / kRunRows % step == 0; });
  return some;
}

SquaredDerivatives squared_derivatives(std::span<const RowIndex> rows,
                                       std::span<const double> gradient,
                                       std::span<const double> hessian, std::size_t n_rows) {
  const auto squares = [&](std::span<const double> values) {
    std::vector<double> sums(rows.size());
    for (std::size_t at = 0; at < values.size(); at += n_rows) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double x = values[at + rows[i]];
        sums[i] += x * x;
      }
    }
    return sums;
  };
  return {squares(gradient), squares(hessian)};
}

GradientThreshold find_gradient_threshold(std::span<const SquaredDerivatives> places,
                                          double row_share) {
  std::vector<std::vector<double>> gradients, hessians;
  for (const SquaredDerivatives& place : places) {
    gradients.push_back(place.gradient);
    hessians.push_back(place.hessian);
  }
  const double g = sum_of(gradients), h = sum_of(hessians);
  if (!std::isfinite(g) || !std::isfinite(h)) return {0.0, std::numeric_limits<double>::infinity()};
  const double lambda = h > 0.0 ? kHessianShare * g / h : 0.0;
  double n_seen = 0.0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    for (std::size_t i = 0; i < gradients[p].size(); ++i) {
      gradients[p][i] = std::sqrt(gradients[p][i] + lambda * hessians[p][i]);
    }
    n_seen += static_cast<double>(gradients[p].size());
  }
  return {lambda, find_mu(gradients, row_share * n_seen)};
}

}  // namespace arboleda
