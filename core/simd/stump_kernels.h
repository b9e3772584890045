// Sums and rough gains of splits of a node of two classes: see simd/kernels.h for how the loops are
// compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// Two sums of weights in one number: of all rows in the upper half, of the second class in the lower.
// Both below 2^31.
using PackedWeights = std::uint64_t;

struct ClassTotals {
  std::uint64_t whole, second;  // weights, of both classes and of the second one
  std::size_t n_rows;           // that have a weight
};

// The rows of a stump: 1 where a row is on its left side, else 2; and classes, 0 or 1.
struct StumpRows {
  const std::int32_t* leaf;
  const std::uint32_t* labels;
  std::size_t n;
};

struct StumpKernels {
  // labels: 0 or 1, one a row.
  ClassTotals (*totals)(const std::uint64_t* weight, const std::uint32_t* labels, std::size_t n);

  // out[i] = the weight of row i times `scale`, rounded. Returns their sum.
  PackedWeights (*pack)(const std::uint64_t* weight, const std::uint32_t* labels, std::size_t n,
                        double scale, PackedWeights* out);

  // out[i] = what parting sums[i] from the rest of `total` explains of the second class,
  //   a b (p_L - p_R)^2 = d^2 / (a b)  with  d = l - p a,
  // where a is the share of the smaller side in the total and b that of the other, l the share of the
  // smaller side's second class and p that of all rows' second class. Within kGainRounding. 0 where a
  // side is empty. Returns the largest, or -1 of none.
  float (*gains)(const PackedWeights* sums, std::size_t n, PackedWeights total, float* out);

  // Rows in an order are taken from one side to the other, block by block; sums[b] + before is on the
  // left before block b, sums[b + 1] + before after it. bounds[b] = a gain that no place in block b
  // exceeds: gains are convex in the weights of the two classes on the left, so the largest is that of
  // taking none, all, or all of one class first. Returns the largest gain at the end of a block.
  float (*bounds)(const PackedWeights* sums, std::size_t n_blocks, PackedWeights before,
                  PackedWeights total, float* bounds);

  // sums[2 * side + label] += weight * scale, rounded down. All weights times the scale, and the sums,
  // are below 2^62 together.
  void (*side_sums)(const StumpRows& rows, const double* weight, double scale, std::int64_t* sums);

  // weight *= factor[2 * side + label], but for weights of 0 at least `least`.
  void (*multiply_sides)(const StumpRows& rows, const double* factor, double least, double* weight);
};

// Gains are in single precision: a dozen roundings of 2^-24, none of them worth more than 2 of the gain.
inline constexpr double kGainRounding = 0x1p-19;

}  // namespace arboleda
