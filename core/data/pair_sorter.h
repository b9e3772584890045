// Sorts pairs of a 32-bit key and a 32-bit payload by their key; a pair is one integer of 64 bits, with the
// key in its upper half.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simd/kernels.h"

namespace arboleda {

// American flag sort for large lists: they are permuted in place into 256 buckets, by the first byte that
// differs, and so on bucket by bucket; the extra memory is that of one small bucket. Not stable.
class PairSorter {
 public:
  // differ: its width in bits covers all bits in which any two keys differ.
  void sort(std::span<std::uint64_t> keys, std::uint32_t differ = UINT32_MAX);

 private:
  void by_ranks(std::span<std::uint64_t> keys);
  void sort_from(std::span<std::uint64_t> keys, int shift);
  void by_counting(std::span<std::uint64_t> keys, int shift);

  const Kernels& kernels_ = kernels();
  std::vector<std::uint64_t> spare_;
};

}  // namespace arboleda
