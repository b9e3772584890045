// The gradients and hessians of one tree's rows as integers, so that sums over rows do not depend on
// their order, packed so that one addition adds both (simd/histogram_kernels.h).
//
// With |g| <= max|g| and units u_g, u_h (powers of two),
//   q_g = round(g / u_g), |q_g| <= 2^k;  q_h = max(1, round(h / u_h)) <= 2^k.
// Packed sums hold 31 bits, so that those of n < 2^b rows fit with k = 31 - b. From 2^20 rows on k stays 11:
// larger nodes have cells of 64 bits a number, and their rows are summed up in packed cells block by block
// (split/histogram.cc). Where so few bits would round too much away - a heavy tail, where most gradients
// are tiny beside the largest: the mean of min(|q|, 4 kEnoughUnits) is below kEnoughUnits - k is
// kFinestBits, or less where rows are so many that wide sums would not stay below 2^62.
//
// Error: a node's sum of gradients is off by at most u_g / 2 a row; by u_h a row for hessians.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/exact_sum.h"
#include "base/shards.h"
#include "base/types.h"
#include "simd/histogram_kernels.h"
#include "split/row_derivatives.h"

namespace arboleda {

inline constexpr int kSumBits = 31;
inline constexpr int kFinestBits = 30;
inline constexpr int kBlockBits = 20;  // of the rows that packed cells hold in tables of any size
inline constexpr std::int64_t kEnoughUnits = 32;

// Larger gradients and hessians show no more than this much that units are fine enough.
inline constexpr std::int64_t kSeenUnits = 4 * kEnoughUnits;

inline Wide operator+(Wide a, Wide b) { return {a.gradient + b.gradient, a.hessian + b.hessian}; }
inline Wide operator-(Wide a, Wide b) { return {a.gradient - b.gradient, a.hessian - b.hessian}; }

inline Packed to_packed(Wide sum) { return sum.gradient * (Packed{1} << 32) + sum.hessian; }
inline Wide to_wide(Packed sum) { return {sum >> 32, sum & 0xffffffff}; }

void add_to(PackedTotals& totals, const PackedTotals& part);

// k for so many rows, and the most where that is too few.
int bits_of(std::uint64_t n_rows);
int finest_bits_of(std::uint64_t n_rows);

// Sums and maxima of all shards.
void add_all(const Shards* shards, std::span<PackedTotals> totals);

// The power of two that makes `bits` bits of the largest magnitude; 1 for zeros.
double unit_of(double largest, int bits);

class PackedGradients {
 public:
  // rows: ascending, at least one in all shards.
  void pack(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
            const Context& context);

  const Packed* data() const { return packed_.data(); }  // of every row of the table
  Wide total() const { return total_; }
  std::uint64_t n_rows() const { return n_rows_; }         // of all shards, as the total
  bool has_unit_hessian() const { return !has_hessian_; }  // all are 1
  double gradient_unit() const { return gradient_unit_; }
  double hessian_unit() const { return hessian_unit_; }
  const SumScale& gradient_scale() const { return gradient_scale_; }  // for exact sums of reals
  const SumScale& hessian_scale() const { return hessian_scale_; }
  std::int64_t largest_hessian() const { return largest_hessian_; }  // of one row

  // Whether packed cells hold every sum over so many rows.
  bool fits_packed(std::uint64_t n_rows) const { return n_rows <= most_packed_rows(); }

  // Whether a NearGradient holds that of every row of the table.
  bool fit_near() const { return fit_near_; }

  std::size_t most_packed_rows() const { return ((std::size_t{1} << kSumBits) - 1) / largest_; }

 private:
  void see_shards(const Shards& shards, Magnitude& gradients, Magnitude& hessians);
  PackedTotals pack_with(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
                         const Context& context);
  PackedTotals pack_all(std::span<const double> gradient, std::span<const double> hessian,
                        std::size_t begin, std::size_t end);
  PackedTotals pack_rows(std::span<const RowIndex> rows, const RowDerivatives& derivatives);

  std::vector<Packed> packed_;
  Wide total_{};
  std::uint64_t n_rows_ = 0;
  bool has_hessian_ = false;
  double gradient_unit_ = 1.0, hessian_unit_ = 1.0;
  SumScale gradient_scale_, hessian_scale_;
  std::int64_t largest_hessian_ = 1;
  std::size_t largest_ = 1;
  bool fit_near_ = false;
};

}  // namespace arboleda
