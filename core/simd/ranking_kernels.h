// Derivatives of the pairs of a ranking. Written once (generic/ranking.inc), compiled for every width of
// registers, and part of kernels(): the sums over pairs have the same order at every level.
#pragma once

#include <cstddef>

namespace arboleda {

// Arrays of the rows of a query can be read and written up to so many places beyond the last row.
inline constexpr std::size_t kRankingPadding = 8;

// The rows of a query in descending order of their scores f. The loss of a pair i < j of different gains is
//   W log(1 + exp -t),   t = f_i - f_j if the gain of i is larger, else f_j - f_i.
struct RankedRows {
  std::size_t n;
  const double* score;
  const double* strength;  // exp(f - some constant), above 0
  const double* gain;
  const double* discount;  // descending
  // W = |gain_i - gain_j| (discount_i - discount_j) scale / (0.01 + f_i - f_j); else 1
  bool is_by_ndcg;
  double scale;
  double* gradient;  // what a pair adds to both of its rows
  double* hessian;
};

struct RankingKernels {
  // Adds the derivatives of the pairs of row i with all rows after it. Returns the sum of the pairs' |dL/df|.
  double (*add_pairs)(const RankedRows& rows, std::size_t i);
};

}  // namespace arboleda
