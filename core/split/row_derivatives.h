// The derivatives that one tree is grown by: kept in arrays, or computed again wherever they are read, block
// by block, which takes no memory for each row of a table.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/exact_sum.h"
#include "base/types.h"
#include "tree/leaf_rows.h"

namespace arboleda {

// Derivatives of rows that are computed whenever they are read, always to the same bits.
struct ComputedDerivatives {
  std::size_t n_rows = 0;  // of the table
  bool has_hessian = false;

  // Those of rows begin .. end; without hessians, `hessian` is empty. Several threads may call it at once.
  std::function<void(std::size_t begin, std::size_t end, std::span<double> gradient,
                     std::span<double> hessian)>
      compute;
};

struct DerivativeMagnitudes {
  Magnitude gradient, hessian;
};

// Of one output: one a row of the table, weights included. No hessian: all are 1.
struct RowDerivatives {
  std::span<const double> gradient, hessian;
  const ComputedDerivatives* computed = nullptr;  // instead of the arrays
  const DerivativeMagnitudes* largest = nullptr;  // of all rows, where they are known

  std::size_t n_rows() const { return computed != nullptr ? computed->n_rows : gradient.size(); }
  bool has_hessian() const {
    return computed != nullptr ? computed->has_hessian : !hessian.empty();
  }
};

// Rows that are read together, at most.
inline constexpr std::size_t kReadRows = 256;

// Writes the derivatives of some rows, ascending, side by side; hessians where there are any.
void read_derivatives(const RowDerivatives& derivatives, std::span<const RowIndex> rows,
                      double* gradient, double* hessian);

DerivativeMagnitudes magnitudes_of_rows(const RowDerivatives& derivatives,
                                        std::span<const RowIndex> rows, const Context& context);

// For each leaf the sum of its gradients, then for each that of its hessians, 0 where all are 1
// (tree/leaf_sums.h).
std::vector<ExactSum> sum_leaves(const RowDerivatives& derivatives, const SumScale& gradient_scale,
                                 const SumScale& hessian_scale, const LeafRows& leaves,
                                 const Context& context);

}  // namespace arboleda
