// Scores of many splits at once: see simd/kernels.h for how the kernels are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// The same operations in the same order as in the criteria: the same bits. All n are multiples of 8.
struct SplitScoreKernels {
  static constexpr std::size_t kMostRows = 24;

  // score[j] = sum_k L_k^2 / W_L + sum_k R_k^2 / W_R (criterion/gini.h), where right[k * stride + j] = R_k
  // and total[k] = L_k + R_k; -1 where a side is empty.
  void (*gini)(const std::uint32_t* right, std::size_t stride, std::size_t n,
               const std::uint32_t* total, std::size_t n_classes, double* score);

  // score[j] = S_L^2 / W_L + S_R^2 / W_R (criterion/squared_error.h), where left_sum[j] = S_L,
  // left_weight[j] = W_L, and both sides have weight.
  void (*squared)(const std::int64_t* left_sum, const std::int64_t* left_weight, std::size_t n,
                  std::int64_t total_sum, std::int64_t total_weight, double* score);

  // The best threshold of each of n columns in a node of at most kMostRows rows: its score, or -1 where
  // all rows have the same code, and the largest code on the left; of equal scores, the lowest
  // threshold. codes[i * n + j]: of row i in column j. sum[i]: target times weight of row i.
  void (*squared_of_few)(const std::uint32_t* codes, std::size_t n, const std::int64_t* sum,
                         const std::int64_t* weight, std::size_t n_rows, double* score,
                         std::uint32_t* code);

  // The same; labels are below n_classes, all weights together below 2^26.
  void (*gini_of_few)(const std::uint32_t* codes, std::size_t n, const std::uint32_t* label,
                      const std::uint32_t* weight, std::size_t n_rows, std::size_t n_classes,
                      double* score, std::uint32_t* code);

  // score[j] = left[j] / W_L + right[j] / W_R, where left_weight[j] = W_L, and both sides have weight.
  void (*quotients)(const std::int64_t* left, const std::int64_t* right,
                    const std::int64_t* left_weight, std::size_t n, std::int64_t total_weight,
                    double* score);
};

}  // namespace arboleda
