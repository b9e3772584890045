// Scores of many splits at once: see simd/kernels.h for how the kernels are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// The same operations in the same order as in the criteria: the same bits. All n are multiples of 8.
struct SplitScoreKernels {
  // score[j] = sum_k L_k^2 / W_L + sum_k R_k^2 / W_R (criterion/gini.h), where right[k * stride + j] = R_k
  // and total[k] = L_k + R_k; -1 where a side is empty.
  void (*gini)(const std::uint32_t* right, std::size_t stride, std::size_t n,
               const std::uint32_t* total, std::size_t n_classes, double* score);

  // score[j] = S_L^2 / W_L + S_R^2 / W_R (criterion/squared_error.h), where left_sum[j] = S_L,
  // left_weight[j] = W_L, and both sides have weight. Returns the largest.
  double (*squared)(const std::int64_t* left_sum, const std::int64_t* left_weight, std::size_t n,
                    std::int64_t total_sum, std::int64_t total_weight, double* score);

  // score[j] = left[j] / W_L + right[j] / W_R, where left_weight[j] = W_L, and both sides have weight.
  // Returns the largest.
  double (*quotients)(const std::int64_t* left, const std::int64_t* right,
                      const std::int64_t* left_weight, std::size_t n, std::int64_t total_weight,
                      double* score);

  // Sorts each of sorted_columns columns on its own, ascending: keys[i * sorted_columns + j] is the key of row i
  // in column j.
  void (*sort_columns)(std::int32_t* keys, std::size_t n_rows);
  std::size_t sorted_columns;
};

}  // namespace arboleda
