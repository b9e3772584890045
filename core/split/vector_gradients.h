// The gradients and hessians of several outputs for one tree's rows as integers, row by row, so that one
// pass over the rows fills the histograms of all outputs. See split/packed_gradients.h for the numbers.
//
//   row: output 0 | output 1 | .. | output K-1 | 1 | .. | 1
//
// The hessians of what follows the outputs count rows; there is at least one such number, and as many as
// fill registers. Each output has a unit of gradients of its own, and all have the same unit of hessians.
//
// Where units would be too coarse, they are finer by as many bits as are missing, but no finer than
// packed cells hold of blocks of rows that are worth adding to wide ones (split/vector_histogram.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/exact_sum.h"
#include "base/memory.h"
#include "base/types.h"
#include "split/packed_gradients.h"

namespace arboleda {

// Derivatives of several outputs, output by output, one a row of the table each. No hessian: all are 1;
// one a row: every output has it.
struct VectorDerivatives {
  std::size_t n_outputs = 0;
  std::span<const double> gradient, hessian;

  std::size_t n_rows() const { return gradient.size() / n_outputs; }
  std::span<const double> gradient_of(std::size_t output) const {
    return gradient.subspan(output * n_rows(), n_rows());
  }
  std::span<const double> hessian_of(std::size_t output) const {
    return hessian.size() <= n_rows() ? hessian : hessian.subspan(output * n_rows(), n_rows());
  }
};

class VectorGradients {
 public:
  // Numbers of a row.
  static std::size_t width_of(std::size_t n_outputs);

  // rows: ascending, at least one in all shards. least_block: rows of a block that is worth it, below 2^31.
  void pack(std::span<const RowIndex> rows, const VectorDerivatives& derivatives,
            std::size_t least_block, const Context& context);

  std::size_t n_outputs() const { return gradient_units_.size(); }
  std::size_t width() const { return width_of(n_outputs()); }
  const Packed* data() const { return packed_.data(); }        // `width` for each row of the table
  const std::vector<Wide>& totals() const { return totals_; }  // `width`
  const std::vector<double>& gradient_units() const { return gradient_units_; }
  double hessian_unit() const { return hessian_unit_; }
  std::uint64_t n_rows() const { return n_rows_; }         // of all shards, as the totals
  bool has_unit_hessian() const { return !has_hessian_; }  // all are 1

  // The largest of the gradients and hessians in these rows, one an output; one of hessians where all
  // outputs have the same.
  const std::vector<Magnitude>& gradient_magnitudes() const { return gradients_; }
  const std::vector<Magnitude>& hessian_magnitudes() const { return hessians_; }

  std::size_t most_packed_rows() const { return ((std::size_t{1} << kSumBits) - 1) / largest_; }

 private:
  std::vector<PackedTotals> pack_with(std::span<const RowIndex> rows,
                                      const VectorDerivatives& derivatives, const Context& context);
  void see_shards(const Shards& shards);
  void pack_block(std::span<const RowIndex> rows, const VectorDerivatives& derivatives,
                  std::vector<PackedTotals>& totals);

  AlignedVector<Packed> packed_;
  std::vector<Wide> totals_;
  std::vector<Magnitude> gradients_, hessians_;  // one of hessians where all outputs have the same
  std::vector<double> gradient_units_;
  double hessian_unit_ = 1.0;
  std::uint64_t n_rows_ = 0;
  bool has_hessian_ = false;
  std::size_t largest_ = 1;
};

}  // namespace arboleda
