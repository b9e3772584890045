#include "base/fixed_point.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace arboleda {

int bit_length(std::uint64_t value) { return 64 - std::countl_zero(value); }

namespace {

// Rounds weights to units of 2^-shift, divides them by their common factor, and sums them.
void round_weights(std::span<const double> weights, int shift, FixedWeights& fixed) {
  std::uint64_t common = 0;
  fixed.value.resize(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    fixed.value[i] = static_cast<std::uint64_t>(std::llround(std::ldexp(weights[i], shift)));
    common = std::gcd(common, fixed.value[i]);
  }
  for (auto& value : fixed.value) {
    value /= common;
    fixed.total += value;
  }
  fixed.unit = std::ldexp(static_cast<double>(common), -shift);
}

}  // namespace

FixedWeights fix_weights(std::span<const double> weights, std::size_t n_rows, int max_bits) {
  FixedWeights fixed;
  if (weights.empty()) {
    fixed.total = n_rows;
    return fixed;
  }
  require(weights.size() == n_rows, "one weight a row is needed");
  double largest = 0.0;
  for (const double w : weights) {
    require(std::isfinite(w) && w >= 0.0, "weights must be finite and not negative");
    largest = std::max(largest, w);
  }
  require(largest > 0.0, "at least one weight must be positive");

  // Weights relative to a power of two near the largest, so that their sum cannot overflow.
  const int exponent = std::ilogb(largest) + 1;
  double sum = 0.0;
  for (const double w : weights) sum += std::ldexp(w, -exponent);
  // Two bits of room: one for the sum's own fraction, one for rounding each weight up.
  round_weights(weights, max_bits - 2 - std::ilogb(sum) - exponent, fixed);

  std::uint64_t smallest = UINT64_MAX;
  std::uint64_t greatest = 0;
  std::size_t n_positive = 0;
  for (const auto value : fixed.value) {
    if (value == 0) continue;
    smallest = std::min(smallest, value);
    greatest = std::max(greatest, value);
    ++n_positive;
  }
  if (n_positive < n_rows) {
    fixed.dropped.resize(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) fixed.dropped[i] = fixed.value[i] == 0;
  }
  if (smallest == greatest) {
    fixed.unit *= static_cast<double>(smallest);
    fixed.total = n_positive;
    fixed.value.clear();
  }
  return fixed;
}

double FixedTargets::to_real(double units) const { return centre + std::ldexp(units, -shift); }

FixedTargets fix_targets(std::span<const double> targets, const std::vector<bool>& dropped,
                         int max_bits) {
  const auto counts = [&](std::size_t i) { return dropped.empty() || !dropped[i]; };
  FixedTargets fixed;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!counts(i)) continue;
    require(std::isfinite(targets[i]), "targets must be finite");
    low = std::min(low, targets[i]);
    high = std::max(high, targets[i]);
  }
  require(low <= high, "at least one row of positive weight is needed");
  fixed.centre = low / 2 + high / 2;
  const double reach = std::max(high - fixed.centre, fixed.centre - low);
  fixed.shift = reach > 0.0 ? max_bits - 1 - std::ilogb(reach) : 0;
  fixed.value.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!counts(i)) continue;
    fixed.value[i] = std::llround(std::ldexp(targets[i] - fixed.centre, fixed.shift));
  }
  return fixed;
}

}  // namespace arboleda
