// log2 with the same bits on every machine: the C library's may differ in the last bit between
// versions and between processors with and without fused multiply-add.
#pragma once

#include <cmath>

namespace arboleda {

// x positive and finite. With x = m 2^e, m in [sqrt(1/2), sqrt(2)) and s = (m-1)/(m+1):
//   log2 x = e + 2/ln 2 (s + s^3/3 + s^5/5 + ...),   |s| < 0.1716, so s^23/23 is below 2^-62.
inline double stable_log2(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2.0;
    --exponent;
  }
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double s2 = s * s;
  double series = 1.0 / 21.0;
  for (int odd = 19; odd >= 1; odd -= 2) series = series * s2 + 1.0 / odd;
  constexpr double kTwoOverLn2 = 2.88539008177792681472;
  return exponent + kTwoOverLn2 * s * series;
}

// x log2 x, with its limit 0 at x = 0.
inline double xlog2x(double x) { return x > 0.0 ? x * stable_log2(x) : 0.0; }

}  // namespace arboleda
