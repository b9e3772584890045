#include "data/fixed_weights.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// 2^k as a product of two numbers: one alone may be out of range where 2^k x is not.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int k) : factor_{std::ldexp(1.0, k / 2), std::ldexp(1.0, k - k / 2)} {}
  double operator()(double x) const { return x * factor_[0] * factor_[1]; }

  // First by one, then by the other.
  friend WeightScale operator*(const PowerOfTwo& a, const PowerOfTwo& b) {
    return {{a.factor_[0], a.factor_[1], b.factor_[0], b.factor_[1]}};
  }

 private:
  double factor_[2];
};

// Weights times a power of two, so that the largest is near 1 and their sum cannot overflow.
struct ScaledWeights {
  std::span<const double> weights;
  int exponent;
  PowerOfTwo scale;

  ScaledWeights(std::span<const double> w, double largest)
      : weights(w), exponent(std::ilogb(largest) + 1), scale(-exponent) {}

  double operator[](std::size_t i) const { return scale(weights[i]); }

  // In units of 2^-shift; returns their sum.
  std::uint64_t round(int shift, std::span<std::uint64_t> units) const {
    return kernels().weights.round(weights.data(), weights.size(), scale * PowerOfTwo(shift),
                                   units.data());
  }
};

// The largest number of which every weight is a whole multiple; 0 when it is below `limit`.
// Euclid's algorithm, exact in floating point.
double common_measure(const ScaledWeights& scaled, double limit) {
  double common = 0.0;
  for (std::size_t i = 0; i < scaled.weights.size(); ++i) {
    double rest = scaled[i];
    while (rest != 0.0) {
      if (rest < limit) return 0.0;
      common = std::exchange(rest, std::fmod(common, rest));
    }
  }
  return common;
}

// Rounds weights to units of 2^-shift and divides them by their common factor.
void round_weights(const ScaledWeights& scaled, int shift, FixedWeights& fixed) {
  scaled.round(shift, fixed.value);
  std::uint64_t common = 0;
  for (const std::uint64_t value : fixed.value) {
    common = std::gcd(common, value);
    if (common == 1) break;
  }
  if (common != 1) {
    for (auto& value : fixed.value) value /= common;
  }
  fixed.unit = std::ldexp(static_cast<double>(common), scaled.exponent - shift);
}

}  // namespace

FixedWeights fix_weights(std::span<const double> weights, std::size_t n_rows, int max_bits) {
  FixedWeights fixed;
  if (weights.empty()) {
    fixed.total = n_rows;
    return fixed;
  }
  require(weights.size() == n_rows, "one weight a row is needed");
  const double largest = kernels().weights.largest(weights.data(), weights.size());
  require(std::isfinite(largest), "weights must be finite and not negative");
  require(largest > 0.0, "at least one weight must be positive");

  const ScaledWeights scaled(weights, largest);
  fixed.value.resize(n_rows);
  // To 2^-31 a weight; the same in any order.
  const double sum = std::ldexp(static_cast<double>(scaled.round(31, fixed.value)), -31);
  // Two bits of room: one for the sum's own fraction, one for rounding each weight up.
  const int bits = max_bits - 2 - std::ilogb(sum);
  const double common = common_measure(scaled, std::ldexp(1.0, -bits));
  if (common > 0.0) {
    for (std::size_t i = 0; i < n_rows; ++i) {
      fixed.value[i] = static_cast<std::uint64_t>(scaled[i] / common);
    }
    fixed.unit = std::ldexp(common, scaled.exponent);
  } else {
    round_weights(scaled, bits, fixed);
  }
  const WeightSummary summary = kernels().weights.summary(fixed.value.data(), n_rows);
  fixed.total = summary.sum;
  if (summary.n_positive < n_rows) {
    fixed.dropped.resize(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) fixed.dropped[i] = fixed.value[i] == 0;
  }
  if (summary.smallest == summary.largest) {
    fixed.unit *= static_cast<double>(summary.smallest);
    fixed.total = summary.n_positive;
    fixed.value.clear();
  }
  return fixed;
}

}  // namespace arboleda
