#include "base/random.h"

namespace arboleda {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t tree,
                           std::uint64_t node)
    : key_{low(seed), high(seed)},
      counter_{0, (static_cast<std::uint32_t>(purpose) << 24) ^ tree, low(node), high(node)} {}

std::uint32_t RandomStream::next() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint32_t RandomStream::below(std::uint32_t bound) {
  std::uint64_t product = std::uint64_t{next()} * bound;
  if (low(product) < bound) {
    const std::uint32_t rejected = (0u - bound) % bound;
    while (low(product) < rejected) product = std::uint64_t{next()} * bound;
  }
  return high(product);
}

double RandomStream::uniform() {
  const std::uint64_t upper = next() >> 5;
  const std::uint64_t lower = next() >> 6;
  return static_cast<double>(upper << 26 | lower) * 0x1p-53;
}

std::uint64_t child_key(std::uint64_t parent_key, bool is_left) {
  return scatter(parent_key * 2 + (is_left ? 1 : 2));
}

std::uint64_t feature_key(std::uint64_t node_key, std::uint32_t feature) {
  return scatter(node_key ^ scatter(feature));
}

}  // namespace arboleda
