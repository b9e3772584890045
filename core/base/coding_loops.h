// The loops of coding_kernels.h; included by kernels_loops.h, whose rules hold here.

namespace arboleda {

namespace {

// Kept to integers: no mode of floating-point arithmetic that some library of the process has set
// (flushing of denormals) changes a key.
void keys_32(const std::int32_t* bits, std::size_t n, std::int32_t* keys) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t size = bits[i] & INT32_MAX;
    const std::int32_t key = bits[i] ^ ((bits[i] >> 31) & INT32_MAX);
    const std::int32_t present = size == 0 ? 0 : key;
    keys[i] = size > 0x7F800000 ? INT32_MAX : present;
  }
}

void keys_64(const std::int64_t* bits, std::size_t n, std::int64_t* keys) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t size = bits[i] & INT64_MAX;
    const std::int64_t key = bits[i] < 0 ? bits[i] ^ INT64_MAX : bits[i];
    const std::int64_t present = size == 0 ? 0 : key;
    keys[i] = size > 0x7FF0000000000000 ? INT64_MAX : present;
  }
}

// Binary search, a block of keys step by step side by side. The comparison is counted, not tested: a
// branch on it would be guessed wrong every other time.
template <class Key>
void count_below(const Key* keys, std::size_t n, const Key* cuts, std::size_t n_cuts, Code* out) {
  constexpr std::size_t kBlock = 64;
  int n_steps = 0;
  while (n_cuts >> n_steps > 0) ++n_steps;
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    std::uint32_t below[kBlock] = {};
    for (int bit = n_steps - 1; bit >= 0; --bit) {
      const Key* middle = cuts + ((std::size_t{1} << bit) - 1);
      for (std::size_t j = 0; j < kBlock; ++j) {
        below[j] += static_cast<std::uint32_t>(middle[below[j]] < keys[i + j]) << bit;
      }
    }
    for (std::size_t j = 0; j < kBlock; ++j) out[i + j] = below[j];
  }
  for (; i < n; ++i) {
    std::uint32_t below = 0;
    for (int bit = n_steps - 1; bit >= 0; --bit) {
      below += static_cast<std::uint32_t>(cuts[below + (std::size_t{1} << bit) - 1] < keys[i])
               << bit;
    }
    out[i] = below;
  }
}

constexpr CodingKernels kCodingKernels{keys_32, keys_64, count_below<std::int32_t>,
                                       count_below<std::int64_t>};

}  // namespace

}  // namespace arboleda
