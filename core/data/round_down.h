// Comparing with thresholds in the type of the numbers compared.
#pragma once

#include <bit>
#include <cstdint>

namespace arboleda {

// The largest number of the type that is not above x: numbers of that type are at most x exactly where
// they are at most this.
inline void round_down(double x, double& number) { number = x; }
inline void round_down(double x, float& number) {
  number = static_cast<float>(x);  // the nearest: if it is above x, the next lower one is not
  const std::uint32_t above = static_cast<double>(number) > x ? 1 : 0;
  const auto bits = std::bit_cast<std::uint32_t>(number);
  number = std::bit_cast<float>((bits >> 31) != 0 ? bits + above : bits - above);
}

}  // namespace arboleda
