#include "data/fixed_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
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

// The largest number of which all weights seen are whole multiples, unless it is below a limit. Euclid's
// algorithm, exact in floating point. What parts of the weights have in common is seen like a weight.
class CommonMeasure {
 public:
  explicit CommonMeasure(double limit) : limit_(limit) {}

  void see(double rest) {
    while (rest != 0.0) {
      if (rest < limit_) exists_ = false;
      if (!exists_) return;
      common_ = std::exchange(rest, std::fmod(common_, rest));
    }
  }
  void see(const ScaledWeights& scaled) {
    for (std::size_t i = 0; i < scaled.weights.size() && exists_; ++i) see(scaled[i]);
  }
  void see(const CommonMeasure& other) {
    exists_ &= other.exists_;
    see(other.common_);
  }
  void see_all(const Shards* shards) {
    if (shards == nullptr) return;
    const std::array<std::uint64_t, 2> own{exists_ ? 1U : 0U,
                                           std::bit_cast<std::uint64_t>(common_)};
    const std::vector<std::uint64_t> all = shards->gather(own);
    *this = CommonMeasure(limit_);
    for (std::size_t i = 0; i < all.size(); i += own.size()) {
      exists_ &= all[i] > 0;
      see(std::bit_cast<double>(all[i + 1]));
    }
  }

  bool exists() const { return exists_; }
  double value() const { return common_; }

 private:
  double limit_, common_ = 0.0;
  bool exists_ = true;
};

// Of weights in units of 2^-shift; 0 of none.
std::uint64_t common_factor(std::span<const std::uint64_t> units) {
  std::uint64_t common = 0;
  for (const std::uint64_t value : units) {
    common = std::gcd(common, value);
    if (common == 1) break;
  }
  return common;
}

// In the unit that measures all of them.
void divide_weights(std::span<const ScaledWeights> parts, double common,
                    std::span<FixedWeights> fixed) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < parts[p].weights.size(); ++i) {
      fixed[p].value[i] = static_cast<std::uint64_t>(parts[p][i] / common);
    }
  }
}

// Rounded to units of 2^-shift and divided by the factor that all have in common. Returns the unit.
double round_weights(std::span<const ScaledWeights> parts, int shift, const Shards* shards,
                     std::span<FixedWeights> fixed) {
  std::uint64_t common = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].round(shift, fixed[p].value);
    common = std::gcd(common, common_factor(fixed[p].value));
  }
  if (shards != nullptr) {
    for (const std::uint64_t own : shards->gather(std::span(&common, 1))) {
      common = std::gcd(common, own);
    }
  }
  if (common != 1) {
    for (FixedWeights& part : fixed) {
      for (auto& value : part.value) value /= common;
    }
  }
  return std::ldexp(static_cast<double>(common), -shift);
}

double largest_of(std::span<const std::span<const double>> parts, const Shards* shards) {
  Magnitude largest;
  for (const auto weights : parts) {
    const double own = kernels().weights.largest(weights.data(), weights.size());
    require(std::isfinite(own), "weights must be finite and not negative");
    largest.see(own);
  }
  see_all(shards, std::span(&largest, 1));
  require(largest.value() > 0.0, "at least one weight must be positive");
  return largest.value();
}

// What is the same for all parts: the total, and whether all positive weights are equal.
void sum_up(double unit, const Shards* shards, std::span<FixedWeights> fixed) {
  WeightSummary all{0, std::numeric_limits<std::uint64_t>::max(), 0, 0};
  for (FixedWeights& part : fixed) {
    const WeightSummary own = kernels().weights.summary(part.value.data(), part.value.size());
    all.sum += own.sum;
    all.smallest = std::min(all.smallest, own.smallest);
    all.largest = std::max(all.largest, own.largest);
    all.n_positive += own.n_positive;
    if (own.n_positive == part.value.size()) continue;
    part.dropped.resize(part.value.size());
    for (std::size_t i = 0; i < part.value.size(); ++i) part.dropped[i] = part.value[i] == 0;
  }
  if (shards != nullptr) {
    std::array<std::uint64_t, 2> sums{all.sum, all.n_positive}, ends{~all.smallest, all.largest};
    shards->add(sums);
    shards->maximum(ends);
    all = {sums[0], ~ends[0], ends[1], sums[1]};
  }
  const bool equal = all.smallest == all.largest;
  for (FixedWeights& part : fixed) {
    part.unit = equal ? unit * static_cast<double>(all.smallest) : unit;
    part.total = equal ? all.n_positive : all.sum;
    if (shards != nullptr) part.largest = equal ? 1 : all.largest;
    if (equal) part.value.clear();
  }
}

}  // namespace

std::vector<FixedWeights> fix_weights(std::span<const std::span<const double>> parts, int max_bits,
                                      const Shards* shards) {
  const double largest = largest_of(parts, shards);
  std::vector<ScaledWeights> scaled;
  std::vector<FixedWeights> fixed(parts.size());
  std::uint64_t units = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    scaled.emplace_back(parts[p], largest);
    fixed[p].value.resize(parts[p].size());
    units += scaled[p].round(31, fixed[p].value);  // to 2^-31 a weight; the same in any order
  }
  units = sum_of_all(shards, units);
  // Two bits of room: one for the sum's own fraction, one for rounding each weight up.
  const int bits = max_bits - 2 - std::ilogb(std::ldexp(static_cast<double>(units), -31));
  CommonMeasure common(std::ldexp(1.0, -bits));
  for (const ScaledWeights& part : scaled) {
    CommonMeasure own(std::ldexp(1.0, -bits));
    own.see(part);
    common.see(own);
  }
  common.see_all(shards);
  if (common.exists()) divide_weights(scaled, common.value(), fixed);
  const double unit = common.exists() ? common.value() : round_weights(scaled, bits, shards, fixed);
  sum_up(std::ldexp(unit, scaled[0].exponent), shards, fixed);
  return fixed;
}

FixedWeights fix_weights(std::span<const double> weights, std::size_t n_rows, int max_bits,
                         const Shards* shards) {
  FixedWeights fixed;
  const bool any = is_any(shards, !weights.empty());
  require(weights.size() == (any ? n_rows : 0), "one weight a row is needed");
  if (!any) {
    fixed.total = sum_of_all(shards, n_rows);
    if (shards != nullptr) fixed.largest = 1;
    return fixed;
  }
  return std::move(fix_weights(std::span(&weights, 1), max_bits, shards)[0]);
}

}  // namespace arboleda
