// The loops of base/score_kernels.h; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

using EightCounts = std::uint32_t __attribute__((vector_size(32)));
using EightSums = std::int64_t __attribute__((vector_size(64)));
using EightScores = double __attribute__((vector_size(64)));

void gini(const std::uint32_t* right_of, std::size_t stride, std::size_t n,
          const std::uint32_t* total, std::size_t n_classes, double* score) {
  for (std::size_t j = 0; j < n; j += 8) {
    EightSums left_squares{}, right_squares{}, left_weight{}, right_weight{};
    for (std::size_t k = 0; k < n_classes; ++k) {
      EightCounts counts;
      __builtin_memcpy(&counts, right_of + k * stride + j, sizeof counts);
      const EightSums right = __builtin_convertvector(counts, EightSums);
      const EightSums left = static_cast<std::int64_t>(total[k]) - right;
      left_squares += left * left;
      right_squares += right * right;
      left_weight += left;
      right_weight += right;
    }
    const EightScores both = __builtin_convertvector(left_squares, EightScores) /
                                 __builtin_convertvector(left_weight, EightScores) +
                             __builtin_convertvector(right_squares, EightScores) /
                                 __builtin_convertvector(right_weight, EightScores);
    const EightScores none = EightScores{} - 1.0;
    const EightScores scores = (left_weight > 0) & (right_weight > 0) ? both : none;
    __builtin_memcpy(score + j, &scores, sizeof scores);
  }
}

void squared(const std::int64_t* left_sum, const std::int64_t* left_weight, std::size_t n,
             std::int64_t total_sum, std::int64_t total_weight, double* score) {
  for (std::size_t j = 0; j < n; j += 8) {
    EightSums sum, weight;
    __builtin_memcpy(&sum, left_sum + j, sizeof sum);
    __builtin_memcpy(&weight, left_weight + j, sizeof weight);
    const EightScores left = __builtin_convertvector(sum, EightScores);
    const EightScores right = __builtin_convertvector(total_sum - sum, EightScores);
    const EightScores scores =
        left * left / __builtin_convertvector(weight, EightScores) +
        right * right / __builtin_convertvector(total_weight - weight, EightScores);
    __builtin_memcpy(score + j, &scores, sizeof scores);
  }
}

constexpr ScoreKernels kScoreKernels{gini, squared};

}  // namespace

}  // namespace arboleda
