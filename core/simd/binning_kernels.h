// Binning: the code of a number is the count of cuts below it. See simd/kernels.h for how the kernels are
// compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace arboleda {

struct BinningKernels {
  // keys[i] = ordered_key of the number with these bits (ordered_key.h). In place if keys is bits.
  void (*keys_32)(const std::int32_t* bits, std::size_t n, std::int32_t* keys);
  void (*keys_64)(const std::int64_t* bits, std::size_t n, std::int64_t* keys);

  // out[i] = how many of the ascending cuts are below keys[i]. Their number is a power of two less
  // one.
  void (*count_below_32)(const std::int32_t* keys, std::size_t n, const std::int32_t* cuts,
                         std::size_t n_cuts, Code* out);
  void (*count_below_64)(const std::int64_t* keys, std::size_t n, const std::int64_t* cuts,
                         std::size_t n_cuts, Code* out);
};

}  // namespace arboleda
