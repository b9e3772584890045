// Counter-based random numbers, many at once: see simd/kernels.h for how the kernels are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

struct RandomKernels {
  // out[4 b .. 4 b + 4) = philox4x32() of the counter with b added to its first word, for b < n_blocks, a
  // multiple of 8.
  void (*philox)(const std::uint32_t* counter, const std::uint32_t* key, std::size_t n_blocks,
                 std::uint32_t* out);
};

}  // namespace arboleda
