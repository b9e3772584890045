// Reals as integers times a power of two, so that sums do not depend on their order.
//
// A column of reals x_i becomes integers q_i = round((x_i - centre) * 2^shift). The shift is as large
// as the budget of bits allows: the sum of all |q_i| (or of all w_i |q_i|) must stay in a 64- or
// 128-bit integer. Powers of two keep scaling exact: 2^k * x gives the same integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/shards.h"

namespace arboleda {

// Number of bits of a nonnegative integer: 0 for 0, 1 for 1, 2 for 2 and 3, ...
int bit_length(std::uint64_t value);

struct FixedTargets {
  std::vector<std::int64_t> value;
  double centre = 0.0;
  int shift = 0;  // real = centre + value * 2^-shift

  double to_real(double units) const;
  double to_units(double real) const;
};

// targets: finite (else Error). Every |value| is at most 2^max_bits. Rows that are `dropped` (empty:
// none) are not looked at, and become 0. Of shards, centre and shift are those of the whole table.
FixedTargets fix_targets(std::span<const double> targets, const std::vector<bool>& dropped,
                         int max_bits, const Shards* shards = nullptr);

// The same about 0, so that ratios of sums keep their meaning. amounts: not negative, and at least
// one of them positive (else Error).
FixedTargets fix_amounts(std::span<const double> amounts, const std::vector<bool>& dropped,
                         int max_bits, const Shards* shards = nullptr);

}  // namespace arboleda
