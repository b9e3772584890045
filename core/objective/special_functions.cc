#include "objective/special_functions.h"

#include <cmath>

#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kAsymptotic = 10.0;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr double kTwoOverRootPi = 1.12837916709551257390;
constexpr double kRootPi = 1.77245385090551602730;

}  // namespace

double log_gamma(double x) {
  double product = 1.0;
  for (; x < kAsymptotic; x += 1.0) product *= x;
  const double u = 1.0 / (x * x);
  const double series =
      (1.0 / 12 - u * (1.0 / 360 - u * (1.0 / 1260 - u * (1.0 / 1680 - u / 1188)))) / x;
  return (x - 0.5) * stable_log(x) - x + kHalfLogTwoPi + series - stable_log(product);
}

double digamma(double x) {
  double sum = 0.0;
  for (; x < kAsymptotic; x += 1.0) sum += 1.0 / x;
  const double u = 1.0 / (x * x);
  const double series =
      u * (1.0 / 12 - u * (1.0 / 120 - u * (1.0 / 252 - u * (1.0 / 240 - u / 132))));
  return stable_log(x) - 0.5 / x - series - sum;
}

double trigamma(double x) {
  double sum = 0.0;
  for (; x < kAsymptotic; x += 1.0) sum += 1.0 / (x * x);
  const double u = 1.0 / (x * x);
  const double series =
      (1.0 / 6 - u * (1.0 / 30 - u * (1.0 / 42 - u * (1.0 / 30 - u * 5.0 / 66)))) * u / x;
  return sum + 1.0 / x + 0.5 * u + series;
}

double error_function(double x) {
  constexpr double kSeries = 2.5, kIsOne = 6.0;
  constexpr int kFractions = 60;
  const double t = std::abs(x);
  if (t >= kIsOne) return std::copysign(1.0, x);
  const double square = t * t;
  if (t < kSeries) {
    double term = t, sum = t;
    for (double odd = 3.0; term > 1e-17 * sum; odd += 2.0) {
      term *= 2.0 * square / odd;
      sum += term;
    }
    return std::copysign(kTwoOverRootPi * stable_exp(-square) * sum, x);
  }
  double fraction = t;
  for (int k = kFractions; k > 0; --k) fraction = t + 0.5 * k / fraction;
  return std::copysign(1.0 - stable_exp(-square) / (fraction * kRootPi), x);
}

}  // namespace arboleda
