// Signed integers in the order of the floating-point numbers they come from: equal numbers have
// equal keys (0.0 and -0.0 too), and NaN, which stands for a missing value, has the largest.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace arboleda {

// The key of a missing value.
template <class Key>
inline constexpr Key kMissingKey = std::numeric_limits<Key>::max();

inline std::int32_t ordered_key(float x) {
  if (std::isnan(x)) return kMissingKey<std::int32_t>;
  const auto bits = std::bit_cast<std::int32_t>(x);
  if (bits == INT32_MIN) return 0;  // -0.0
  return bits < 0 ? bits ^ INT32_MAX : bits;
}

inline std::int64_t ordered_key(double x) {
  if (std::isnan(x)) return kMissingKey<std::int64_t>;
  const auto bits = std::bit_cast<std::int64_t>(x);
  if (bits == INT64_MIN) return 0;
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

// The number of a key.
inline double value_of_key(std::int32_t key) {
  return static_cast<double>(std::bit_cast<float>(key < 0 ? key ^ INT32_MAX : key));
}
inline double value_of_key(std::int64_t key) {
  return std::bit_cast<double>(key < 0 ? key ^ INT64_MAX : key);
}

// Unsigned words in the order of signed keys, and back.
inline std::uint32_t word_of_key(std::int32_t key) {
  return static_cast<std::uint32_t>(key) ^ std::uint32_t{1} << 31;
}
inline std::uint64_t word_of_key(std::int64_t key) {
  return static_cast<std::uint64_t>(key) ^ std::uint64_t{1} << 63;
}
inline std::int64_t key_of_word(std::uint64_t word) {
  return static_cast<std::int64_t>(word ^ std::uint64_t{1} << 63);
}

}  // namespace arboleda
