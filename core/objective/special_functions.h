// Functions of mathematical statistics, with the same bits on every machine: sums and quotients in a fixed order,
// and the logarithm and exponential of simd/math_kernels.h.
//
// The functions of the family of gamma, for x > 0: recurrences up to 10, then asymptotic series (Abramowitz, Stegun
// 1964, "Handbook of mathematical functions", 6.1.41, 6.3.18 and 6.4.12), within 1e-13 of their size or of 1.
#pragma once

namespace arboleda {

double log_gamma(double x);
double digamma(double x);   // its derivative
double trigamma(double x);  // its second derivative

// 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, within 1e-15: 7.1.6 and 7.1.14 there.
double error_function(double x);

}  // namespace arboleda
