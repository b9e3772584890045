// How the probabilities of minimal variance sampling are found: p_i = min(1, size_i/mu) with the size
// sqrt(g_i^2 + lambda h_i^2), lambda = 0.1 sum g^2 / sum h^2, and mu such that the probabilities add up to the
// wanted share. Ibragimov & Gusev (2019), "Minimal variance sampling in stochastic gradient boosting", eq. 9.
//
// Of many rows, some are looked at: runs of neighbours, spread evenly by their numbers. They may lie in several
// places. Sums over them are exact (base/exact_sum.h), so neither places nor order matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

struct GradientThreshold {
  double lambda, mu;
};

// Of one place, the rows that are looked at: about 2^15 of all n_all rows, in runs of 16 neighbours, or all
// where they are few. offset: row r of the place is row offset + r of the table.
std::vector<RowIndex> rows_in_runs(std::span<const RowIndex> rows, std::uint64_t offset,
                                   std::uint64_t n_all);

// Of one place: the squares of gradients and hessians of rows that are looked at, summed over outputs.
struct SquaredDerivatives {
  std::vector<double> gradient, hessian;
};
SquaredDerivatives squared_derivatives(std::span<const RowIndex> rows,
                                       std::span<const double> gradient,
                                       std::span<const double> hessian, std::size_t n_rows);

// mu is infinite where all sizes are 0, or one is no finite number.
GradientThreshold find_gradient_threshold(std::span<const SquaredDerivatives> places,
                                          double row_share);

}  // namespace arboleda
