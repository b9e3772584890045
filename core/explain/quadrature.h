// Gauss and Legendre's points and weights on [0, 1]: with n of them the integral of every polynomial of
// degree 2n - 1 at most is exact, up to rounding.
#pragma once

#include <cstddef>
#include <vector>

namespace arboleda {

struct Quadrature {
  std::vector<double> point;   // inside (0, 1), ascending
  std::vector<double> weight;  // positive; they sum to 1
};

// n_points >= 1.
Quadrature gauss_legendre(std::size_t n_points);

}  // namespace arboleda
