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

void quotients(const std::int64_t* left, const std::int64_t* right, const std::int64_t* left_weight,
               std::size_t n, std::int64_t total_weight, double* score) {
  for (std::size_t j = 0; j < n; j += 8) {
    EightSums l, r, weight;
    __builtin_memcpy(&l, left + j, sizeof l);
    __builtin_memcpy(&r, right + j, sizeof r);
    __builtin_memcpy(&weight, left_weight + j, sizeof weight);
    const EightScores scores =
        __builtin_convertvector(l, EightScores) / __builtin_convertvector(weight, EightScores) +
        __builtin_convertvector(r, EightScores) /
            __builtin_convertvector(total_weight - weight, EightScores);
    __builtin_memcpy(score + j, &scores, sizeof scores);
  }
}

using EightMasks = std::int32_t __attribute__((vector_size(32)));

// The best of the thresholds of eight columns that were looked at.
struct EightBest {
  EightScores score = EightScores{} - 1.0;
  EightSums code{};

  // right_weight: 0 where the threshold leaves nothing on the right.
  void look_at(const EightScores& found, const EightSums& right_weight, const EightCounts& at) {
    const EightSums codes = __builtin_convertvector(at, EightSums);
    const EightSums better =
        (right_weight > 0) & ((found > score) | ((found == score) & (codes < code)));
    score = better ? found : score;
    code = better ? codes : code;
  }

  void write(double* scores, std::uint32_t* codes) const {
    const EightCounts narrow = __builtin_convertvector(code, EightCounts);
    __builtin_memcpy(scores, &score, sizeof score);
    __builtin_memcpy(codes, &narrow, sizeof narrow);
  }
};

inline void read_codes(const std::uint32_t* at, EightCounts& codes) {
  __builtin_memcpy(&codes, at, sizeof codes);
}

void squared_of_few(const std::uint32_t* codes, std::size_t n, const std::int64_t* sum,
                    const std::int64_t* weight, std::size_t n_rows, double* score,
                    std::uint32_t* code) {
  std::int64_t total_sum = 0, total_weight = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    total_sum += sum[i];
    total_weight += weight[i];
  }
  for (std::size_t j = 0; j < n; j += 8) {
    EightBest best;
    for (std::size_t t = 0; t < n_rows; ++t) {
      EightCounts at;
      read_codes(codes + t * n + j, at);
      EightSums left_sum{}, left_weight{};
      for (std::size_t i = 0; i < n_rows; ++i) {
        EightCounts own;
        read_codes(codes + i * n + j, own);
        const EightMasks is_left = own <= at;
        const EightSums mask = __builtin_convertvector(is_left, EightSums);
        left_sum += mask & sum[i];
        left_weight += mask & weight[i];
      }
      const EightSums right_weight = total_weight - left_weight;
      const EightScores left = __builtin_convertvector(left_sum, EightScores);
      const EightScores right = __builtin_convertvector(total_sum - left_sum, EightScores);
      best.look_at(left * left / __builtin_convertvector(left_weight, EightScores) +
                       right * right / __builtin_convertvector(right_weight, EightScores),
                   right_weight, at);
    }
    best.write(score + j, code + j);
  }
}

void gini_of_few(const std::uint32_t* codes, std::size_t n, const std::uint32_t* label,
                 const std::uint32_t* weight, std::size_t n_rows, std::size_t n_classes,
                 double* score, std::uint32_t* code) {
  std::uint32_t total[ScoreKernels::kMostRows] = {};
  for (std::size_t i = 0; i < n_rows; ++i) total[label[i]] += weight[i];
  for (std::size_t j = 0; j < n; j += 8) {
    EightBest best;
    for (std::size_t t = 0; t < n_rows; ++t) {
      EightCounts at;
      read_codes(codes + t * n + j, at);
      EightCounts left_of[ScoreKernels::kMostRows];
      for (std::size_t k = 0; k < n_classes; ++k) left_of[k] = EightCounts{};
      for (std::size_t i = 0; i < n_rows; ++i) {
        EightCounts own;
        read_codes(codes + i * n + j, own);
        left_of[label[i]] += reinterpret_cast<EightCounts>(own <= at) & weight[i];
      }
      // Whole numbers below 2^53, so that their sums are exact.
      EightScores left_squares{}, right_squares{}, left_weight{}, right_weight{};
      for (std::size_t k = 0; k < n_classes; ++k) {
        const EightScores left = __builtin_convertvector(left_of[k], EightScores);
        const EightScores right = static_cast<double>(total[k]) - left;
        left_squares += left * left;
        right_squares += right * right;
        left_weight += left;
        right_weight += right;
      }
      best.look_at(left_squares / left_weight + right_squares / right_weight,
                   __builtin_convertvector(right_weight, EightSums), at);
    }
    best.write(score + j, code + j);
  }
}

constexpr ScoreKernels kScoreKernels{gini, squared, squared_of_few, gini_of_few, quotients};

}  // namespace

}  // namespace arboleda
