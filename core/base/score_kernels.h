// Scores of many splits at once: see base/kernels.h for how the loops are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// The same operations in the same order as in the criteria: the same bits. All n are multiples of 8.
struct ScoreKernels {
  // score[j] = sum_k L_k^2 / W_L + sum_k R_k^2 / W_R (criterion/gini.h), where right[k * stride + j] = R_k
  // and total[k] = L_k + R_k; -1 where a side is empty.
  void (*gini)(const std::uint32_t* right, std::size_t stride, std::size_t n,
               const std::uint32_t* total, std::size_t n_classes, double* score);

  // score[j] = S_L^2 / W_L + S_R^2 / W_R (criterion/squared_error.h), where left_sum[j] = S_L,
  // left_weight[j] = W_L, and both sides have weight.
  void (*squared)(const std::int64_t* left_sum, const std::int64_t* left_weight, std::size_t n,
                  std::int64_t total_sum, std::int64_t total_weight, double* score);
};

}  // namespace arboleda
