// Weights in fixed point (base/fixed_point.h): see simd/kernels.h for how the loops are compiled and
// chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// Four factors, taken one after the other: their product may be out of range where a weight times them
// is not.
struct WeightScale {
  double factor[4];
};

struct WeightSummary {
  std::uint64_t sum, smallest, largest;  // the smallest that is not 0; UINT64_MAX of none
  std::size_t n_positive;
};

struct WeightKernels {
  // The largest of `n` weights, 0 of none; NaN where one is infinite, NaN or negative.
  double (*largest)(const double* weights, std::size_t n);

  // out[i] = round(weights[i] * scale), halves up; below 2^63. Returns their sum.
  std::uint64_t (*round)(const double* weights, std::size_t n, const WeightScale& scale,
                         std::uint64_t* out);

  WeightSummary (*summary)(const std::uint64_t* units, std::size_t n);
};

}  // namespace arboleda
