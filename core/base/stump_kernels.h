// Rough gains of many splits of a node of two classes: see base/kernels.h for how the loop is compiled
// and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// Two sums of weights in one number: of all rows in the upper half, of the second class in the lower.
// Both below 2^31.
using PackedWeights = std::uint64_t;

struct StumpKernels {
  // out[i] = what parting sums[i] from the rest of `total` explains of the second class,
  //   a b (p_L - p_R)^2 = d^2 / (a b)  with  d = l - p a,
  // where a is the share of the smaller side in the total and b that of the other, l the share of the
  // smaller side's second class and p that of all rows' second class. Within kGainRounding. 0 where a
  // side is empty. Returns the largest, or -1 of none.
  float (*gains)(const PackedWeights* sums, std::size_t n, PackedWeights total, float* out);
};

// Gains are in single precision: a dozen roundings of 2^-24, none of them worth more than 2 of the gain.
inline constexpr double kGainRounding = 0x1p-19;

}  // namespace arboleda
