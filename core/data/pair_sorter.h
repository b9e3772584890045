// Sorts integers of 64 bits by their upper half.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/kernels.h"

namespace arboleda {

// Large lists are dealt into 256 piles in place, by the first byte that differs, and so on pile by
// pile: the memory is that of one small pile. Equal upper halves stay in no particular order.
class PairSorter {
 public:
  // differ: at least as many bits long as what the upper halves of any two keys differ in.
  void sort(std::span<std::uint64_t> keys, std::uint32_t differ = UINT32_MAX);

 private:
  void by_ranks(std::span<std::uint64_t> keys);
  void sort_from(std::span<std::uint64_t> keys, int shift);
  void by_counting(std::span<std::uint64_t> keys, int shift);

  const Kernels& kernels_ = kernels();
  std::vector<std::uint64_t> spare_;
};

}  // namespace arboleda
