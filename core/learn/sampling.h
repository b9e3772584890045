// The rows that the trees of a round are grown on.
//
// A draw is a function of (seed, round, number of the row in the table, gradients): it depends neither on threads
// nor on where a row lies. Each thread has rows of its own, and of them only sums and counts are put together
// (base/key_search.h), as parts of a table on several machines would be.
//
//   uniform    a share of the rows without replacement: Friedman (2002), "Stochastic gradient boosting". Those
//              of the smallest random words (learn/row_draw.h).
//   goss       the share a of the rows whose gradients are largest, and of the others a share b at
//              random; these are weighted by (1 - a)/b, so that sums over the sample are unbiased. Ke et
//              al. (2017), "LightGBM", algorithm 2. Ties go to the lower row.
//   gradient   row i with probability p_i = min(1, sqrt(g_i^2 + lambda h_i^2)/mu) and weight 1/p_i; p_i is
//              rounded up to a multiple of 2^-16. learn/gradient_threshold.h has lambda and mu: any two give
//              unbiased sums.
//   automatic  by gradient, as many rows as resolve() says
//
// Of several outputs: goss adds |g| over them, gradient adds the squares.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/key_search.h"
#include "base/memory.h"
#include "base/types.h"
#include "learn/gradient_threshold.h"
#include "learn/row_draw.h"

namespace arboleda {

enum class SamplingMethod { uniform, goss, gradient, automatic };

struct SamplingOptions {
  SamplingMethod method = SamplingMethod::uniform;
  double row_share = 1.0;    // uniform, gradient
  double top_share = 0.2;    // goss: a
  double other_share = 0.1;  // goss: b

  bool takes_all() const {
    return (method == SamplingMethod::uniform || method == SamplingMethod::gradient) &&
           row_share >= 1.0;
  }
  bool weighs() const { return method != SamplingMethod::uniform && !takes_all(); }
};

// The method and the share that `automatic` stands for, for trees of at most so many leaves on so many
// rows; other options as they are.
SamplingOptions resolve(const SamplingOptions& options, std::size_t n_rows,
                        std::int64_t max_leaves);

class RowSampler {
 public:
  // rows: ascending; all of them, of a table of n_rows. They and the context must outlive this.
  // The method is not `automatic`.
  RowSampler(const SamplingOptions& options, std::span<const RowIndex> rows, std::size_t n_rows,
             const Context& context);

  // The rows of a round, ascending; at least one in all shards. gradient, hessian: output-major as in Objective; those
  // of drawn rows are multiplied by the rows' weights, and a hessian that is empty (all 1) is written
  // out where rows have weights.
  std::span<const RowIndex> draw(std::uint32_t round, std::span<double> gradient,
                                 std::vector<double>& hessian);

 private:
  void draw_uniform(std::uint32_t round);
  void draw_goss(std::uint32_t round, std::span<double> gradient, std::span<double> hessian);
  void draw_by_gradient(std::uint32_t round, std::span<double> gradient, std::span<double> hessian);
  GradientThreshold find_threshold(std::span<const double> gradient,
                                   std::span<const double> hessian) const;
  void measure_goss(std::span<const double> gradient);
  std::vector<KeyCutter> cut_largest(std::size_t n_top) const;
  void divide_at(KeyCutter cutter, std::size_t place);
  std::size_t draw_block(std::uint32_t round, std::size_t block, const GradientThreshold& threshold,
                         std::span<double> gradient, std::span<double> hessian);
  template <class Body>
  void for_each_place(const Body& body) const;

  const SamplingOptions options_;
  const std::span<const RowIndex> rows_;
  const std::size_t n_rows_;
  const std::uint64_t n_all_;  // rows of all shards
  const Context& context_;
  std::vector<PlaceRows> places_;                // one for each thread that has enough to do
  std::vector<RowIndex> threshold_rows_;         // those lambda and mu are found from
  std::vector<std::uint64_t> n_threshold_rows_;  // of each shard, where there are several
  std::vector<DrawnRows> of_place_;              // drawn uniformly
  std::vector<DrawnRows> top_, others_;          // goss: of each place
  UnfilledVector<double> size_;                  // goss: of the gradients of each row
  UnfilledVector<RowIndex>
      of_block_;  // those drawn of each block, from the place of its first row on
  std::vector<RowIndex> drawn_;
};

}  // namespace arboleda
