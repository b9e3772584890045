// Comparing with thresholds in the type of the numbers compared.
#pragma once

#include <cmath>
#include <limits>

namespace arboleda {

// The largest number of the type that is not above x: numbers of that type are at most x exactly where
// they are at most this.
inline void round_down(double x, double& number) { number = x; }
inline void round_down(double x, float& number) {
  number = static_cast<float>(x);
  if (static_cast<double>(number) > x) {
    number = std::nextafter(number, -std::numeric_limits<float>::infinity());
  }
}

}  // namespace arboleda
