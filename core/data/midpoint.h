// Where the values of one code end and those of the next begin.
#pragma once

namespace arboleda {

// Midway between two values, low < high; x <= midpoint belongs to the lower one. Computed so that
// nothing overflows and that low <= midpoint < high whatever the rounding.
inline double midpoint(double low, double high) {
  const double middle = low / 2 + high / 2;
  return middle >= low && middle < high ? middle : low;
}

}  // namespace arboleda
