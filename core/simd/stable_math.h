// exp and log of one number, with the same bits on every machine (simd/math_kernels.h).
#pragma once

#include "simd/kernels.h"

namespace arboleda {

inline double stable_exp(double x) {
  double y = 0.0;
  kernels().math.exp(&x, 1, &y);
  return y;
}

inline double stable_log(double x) {
  double y = 0.0;
  kernels().math.log(&x, 1, &y);
  return y;
}

}  // namespace arboleda
