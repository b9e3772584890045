// Sums of two quotients.
#pragma once

#include "base/compiler.h"

namespace arboleda {

// a / b + c / d, both quotients by one instruction where the machine has it. The same bits.
inline double sum_of_quotients(double a, double b, double c, double d) {
  using Pair = NumberVector<double, 16>;
  const Pair quotients = Pair{a, c} / Pair{b, d};
  return quotients[0] + quotients[1];
}

}  // namespace arboleda
