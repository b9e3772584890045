#include "explain/quadrature.h"

#include <cmath>
#include <numbers>

namespace arboleda {

namespace {

struct LegendreValue {
  double value, slope;
};

// P_n at x, inside (-1, 1): Abramowitz and Stegun (1964), 22.7.10 and 22.8.5.
LegendreValue legendre(std::size_t n, double x) {
  double before = 1.0, value = x;
  for (std::size_t k = 2; k <= n; ++k) {
    const auto degree = static_cast<double>(k);
    const double next = ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
    before = value;
    value = next;
  }
  return {value, static_cast<double>(n) * (x * value - before) / (x * x - 1.0)};
}

}  // namespace

Quadrature gauss_legendre(std::size_t n_points) {
  constexpr int kSteps = 100;  // of Newton's method, which takes five or so
  const auto n = static_cast<double>(n_points);
  Quadrature found{std::vector<double>(n_points), std::vector<double>(n_points)};
  for (std::size_t i = 0; i < (n_points + 1) / 2; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    if (2 * i + 1 == n_points) x = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      const LegendreValue at = legendre(n_points, x);
      const double next = x - at.value / at.slope;
      const bool stays = std::abs(next - x) <= 1e-16;
      x = next;
      if (stays) break;
    }
    const double slope = legendre(n_points, x).slope;
    const double weight = 1.0 / ((1.0 - x * x) * slope * slope);
    found.point[i] = 0.5 * (1.0 - x);
    found.point[n_points - 1 - i] = 0.5 * (1.0 + x);
    found.weight[i] = found.weight[n_points - 1 - i] = weight;
  }
  return found;
}

}  // namespace arboleda
