// The loop of base/random_kernels.h; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

// Words of eight blocks, each in 64 bits, so that products fit.
using EightWords = std::uint64_t __attribute__((vector_size(64)));

void philox(const std::uint32_t* counter, const std::uint32_t* key, std::size_t n_blocks,
            std::uint32_t* out) {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  for (std::size_t b = 0; b < n_blocks; b += 8) {
    const EightWords ahead = {b, b + 1, b + 2, b + 3, b + 4, b + 5, b + 6, b + 7};
    EightWords c0 = (counter[0] + ahead) & kLow;
    EightWords c1 = EightWords{} + counter[1];
    EightWords c2 = EightWords{} + counter[2];
    EightWords c3 = EightWords{} + counter[3];
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const EightWords product0 = c0 * std::uint64_t{0xD2511F53};
      const EightWords product1 = c2 * std::uint64_t{0xCD9E8D57};
      c0 = (product1 >> 32) ^ c1 ^ std::uint64_t{k0};
      c2 = (product0 >> 32) ^ c3 ^ std::uint64_t{k1};
      c1 = product1 & kLow;
      c3 = product0 & kLow;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    for (std::size_t lane = 0; lane < 8; ++lane) {
      std::uint32_t* block = out + 4 * (b + lane);
      block[0] = static_cast<std::uint32_t>(c0[lane]);
      block[1] = static_cast<std::uint32_t>(c1[lane]);
      block[2] = static_cast<std::uint32_t>(c2[lane]);
      block[3] = static_cast<std::uint32_t>(c3[lane]);
    }
  }
}

constexpr RandomKernels kRandomKernels{philox};

}  // namespace

}  // namespace arboleda
