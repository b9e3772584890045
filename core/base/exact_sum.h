// Sums of doubles that do not depend on their order.
//
// The largest magnitude fixes one unit, a power of two: every x is cut to a whole number of units,
// 2^61 <= largest in units < 2^62, and the units are summed in 128 bits, which hold 2^65 of them.
// Integers add in any order, on any number of threads, to the same sum. Cutting (towards 0, the same
// for x and -x) costs less than 2^-61 of the largest magnitude a term: 2^9 times less than a double
// of that size resolves. Times a power of two, every x gives the same integers.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "base/types.h"

namespace arboleda {

// The largest |x| of those seen. Bits of nonnegative doubles order as their values do, infinity and
// NaN above all numbers: the largest does not depend on the order, and nothing is lost in silence.
class Magnitude {
 public:
  void see(double x) { bits_ = std::max(bits_, std::bit_cast<std::uint64_t>(x) & kAllButSign); }
  void see(const Magnitude& other) { bits_ = std::max(bits_, other.bits_); }
  void see_bits(std::uint64_t bits) {
    bits_ = std::max(bits_, bits);
  }  // of the largest |x| of several

  double value() const { return std::bit_cast<double>(bits_); }
  std::uint64_t bits() const { return bits_; }
  bool is_finite() const { return bits_ < kInfinity; }

 private:
  static constexpr std::uint64_t kAllButSign = ~std::uint64_t{0} >> 1;
  static constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF} << 52;

  std::uint64_t bits_ = 0;
};

inline Magnitude magnitude_of(std::span<const double> x) {
  Magnitude largest;
  for (const double v : x) largest.see(v);
  return largest;
}

// The unit that sums of numbers up to some magnitude are counted in.
class SumScale {
 public:
  SumScale() = default;  // for zeros
  explicit SumScale(const Magnitude& largest) {
    if (!largest.is_finite()) {
      up_[0] = 0.0;
      down_ = std::numeric_limits<double>::quiet_NaN();
    } else if (largest.value() > 0.0) {
      const int shift = 61 - std::ilogb(largest.value());
      // Two factors: one alone would overflow where all numbers are tiny.
      up_[0] = std::ldexp(1.0, shift / 2);
      up_[1] = std::ldexp(1.0, shift - shift / 2);
      down_ = 1.0;
      shift_ = shift;
    }
  }

  // The same before it is cut to a whole number; x is finite.
  double in_units(double x) const { return x * up_[0] * up_[1]; }

  // |x| at most the magnitude of the scale. Where that is infinite or no number, 0.
  std::int64_t to_units(double x) const {
    return up_[0] == 0.0 ? 0 : static_cast<std::int64_t>(in_units(x));
  }

  // NaN where the magnitude of the scale is infinite or no number.
  double to_real(double units) const { return std::ldexp(units, -shift_) * down_; }
  double to_real(Int128 units) const { return to_real(static_cast<double>(units)); }

 private:
  double up_[2] = {1.0, 1.0};  // real to units
  double down_ = 1.0;          // 1, or NaN
  int shift_ = 0;              // units = real * 2^shift
};

// Whole units of one scale. Sums at the same scale add.
class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(Int128 units) : units_(units) {}

  void add(std::int64_t units) { units_ += units; }
  void add(const ExactSum& other) { units_ += other.units_; }
  void add(const SumScale& scale, double x) { add(scale.to_units(x)); }
  void add(const SumScale& scale, double x, double y) {  // two numbers fit in 64 bits
    add(scale.to_units(x) + scale.to_units(y));
  }

  Int128 units() const { return units_; }
  double to_real(const SumScale& scale) const { return scale.to_real(units_); }

 private:
  Int128 units_ = 0;
};

// The sum of all x: the same bits in any order; NaN if one is infinite or no number.
inline double exact_sum(std::span<const double> x) {
  const SumScale scale(magnitude_of(x));
  ExactSum sum;
  for (const double v : x) sum.add(scale, v);
  return sum.to_real(scale);
}

}  // namespace arboleda
