// The loops of base/number_kernels.h; included by base/kernels_loops.h only, under its rules, after the
// loops of flags: rows are weighed as there.

namespace arboleda {

namespace {

using EightCodes = std::uint16_t __attribute__((vector_size(16)));

inline void read_codes(const std::uint16_t* at, EightCodes& codes) {
  __builtin_memcpy(&codes, at, sizeof codes);
}

void number_ranges(const NumberBlock& block, const RowIndex* rows, std::size_t n,
                   std::uint16_t* lowest, std::uint16_t* highest) {
  EightCodes low, high;
  read_codes(block.codes + rows[0] * block.stride, low);
  high = low;
  for (std::size_t i = 1; i < n; ++i) {
    EightCodes codes;
    read_codes(block.codes + rows[i] * block.stride, codes);
    low = codes < low ? codes : low;
    high = codes > high ? codes : high;
  }
  __builtin_memcpy(lowest, &low, sizeof low);
  __builtin_memcpy(highest, &high, sizeof high);
}

// All bits of a lane are 1 where the code is above the last one of its column.
inline void above(const NumberBlock& block, RowIndex row, const EightCodes& last,
                  BinaryFeatureWords& masks) {
  EightCodes codes;
  read_codes(block.codes + row * block.stride, codes);
  masks = reinterpret_cast<BinaryFeatureWords>(
      __builtin_convertvector(codes > last, BinaryFeatureMasks));
}

void sum_above(const NumberBlock& block, const std::uint16_t* last_codes, const RowIndex* rows,
               const ClassEntry* entries, std::size_t n, std::size_t n_classes, std::size_t stride,
               std::uint32_t* total) {
  EightCodes last;
  read_codes(last_codes, last);
  for (std::size_t k = 0; k < n_classes; ++k) {
    __builtin_memset(total + k * stride, 0, NumberBlock::kColumns * sizeof *total);
  }
  BinaryFeatureWords masks;
  if (n_classes != 2) {
    for (std::size_t i = 0; i < n; ++i) {
      above(block, rows[i], last, masks);
      std::uint32_t* own = total + entries[i].label * stride;
      BinaryFeatureWords sum;
      read(own, sum);
      sum += masks & static_cast<std::uint32_t>(entries[i].weight);
      __builtin_memcpy(own, &sum, sizeof sum);
    }
    return;
  }
  std::uint32_t packed[kChunk];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t n_in = n - begin < kChunk ? n - begin : kChunk;
    pack(entries + begin, n_in, packed);
    BinaryFeatureWords sums{};
    for (std::size_t i = 0; i < n_in; ++i) {
      above(block, rows[begin + i], last, masks);
      sums += masks & packed[i];
    }
    add_packed(sums, stride, total);
  }
}

constexpr NumberKernels kNumberKernels{number_ranges, sum_above};

}  // namespace

}  // namespace arboleda
