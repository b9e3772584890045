// Sums of two quotients.
#pragma once

namespace arboleda {

// a / b + c / d, both quotients by one instruction where the machine has it. The same bits.
inline double sum_of_quotients(double a, double b, double c, double d) {
  using Pair = double __attribute__((vector_size(16)));
  const Pair quotients = Pair{a, c} / Pair{b, d};
  return quotients[0] + quotients[1];
}

// Whether sum_of_quotients(a, b, c, d) >= best is possible, for a, c >= 0 and b, d > 0: without a division,
// and with room for the rounding of both. Only numbers that no product takes out of range may be refused.
inline bool quotients_can_reach(double a, double b, double c, double d, double best) {
  constexpr double kRoom = 1.0 - 0x1p-48;
  return !(a * d + c * b < best * kRoom * (b * d));
}

}  // namespace arboleda
