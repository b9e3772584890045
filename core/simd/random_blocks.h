// Many numbers of a random stream at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

// Fills `numbers` with the next numbers of a stream on which next() was not called yet. Their count is
// a multiple of 32: blocks of four numbers, eight blocks at a time.
inline void fill_random_blocks(RandomStream& stream, std::span<std::uint32_t> numbers) {
  const std::size_t n_blocks = numbers.size() / 4;
  kernels().random.philox(stream.counter().data(), stream.key().data(), n_blocks, numbers.data());
  stream.skip_blocks(static_cast<std::uint32_t>(n_blocks));
}

}  // namespace arboleda
