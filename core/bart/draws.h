// Draws from the distributions that the sampler needs: functions of a stream of random numbers and of
// nothing else, with the same bits on every machine.
#pragma once

#include "base/random.h"

namespace arboleda {

// Quantile of the standard normal distribution, 0 < p < 1, to about 16 digits: M. J. Wichura (1988),
// "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37(3).
double normal_quantile(double p);

// Standard normal, by inversion: one uniform number each.
double draw_normal(QuickStream& stream);

// Gamma with the given shape >= 1/2 and scale 1: G. Marsaglia, W. W. Tsang (2000), "A simple method for
// generating gamma variables", ACM TOMS 26(3); for shapes below 1 by their remark, shape + 1 times
// U^(1 / shape).
double draw_gamma(QuickStream& stream, double shape);

// Chi-square with so many degrees of freedom (>= 1).
inline double draw_chi_square(QuickStream& stream, double degrees) {
  return 2.0 * draw_gamma(stream, degrees / 2.0);
}

// Standard normal given that it exceeds `low`: C. P. Robert (1995), "Simulation of truncated normal
// variables", Statistics and Computing 5, section 2.1. Normal draws until one is above where low <= 0,
// else exponential rejection of the best rate.
double draw_normal_above(QuickStream& stream, double low);

}  // namespace arboleda
