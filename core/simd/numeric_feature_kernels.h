// Numeric features side by side: see simd/kernels.h for how the kernels are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "simd/binary_feature_kernels.h"

namespace arboleda {

// Eight columns of codes, row by row.
struct NumericFeatureBlock {
  static constexpr std::size_t kColumns = 8;

  const std::uint16_t* codes;  // of the first row
  std::size_t stride;          // codes from row to row
};

// entries: one for each of the n rows, n >= 1, of weights from 1 to 255.
struct NumericFeatureKernels {
  // The smallest and the largest code of each column among the rows.
  void (*ranges)(const NumericFeatureBlock&, const RowIndex* rows, std::size_t n,
                 std::uint16_t* lowest, std::uint16_t* highest);

  // total[k * stride + j] = weight of the rows of class k whose code in column j is above last[j].
  void (*sum_above)(const NumericFeatureBlock&, const std::uint16_t* last, const RowIndex* rows,
                    const ClassEntry* entries, std::size_t n, std::size_t n_classes,
                    std::size_t stride, std::uint32_t* total);

  // sum[j] and weight[j]: those of the rows whose code in column j is above last[j], where the i-th of the n
  // rows has sums[i], of any values that add up, and weights[i], or 1 where weights is null.
  void (*sum_values_above)(const NumericFeatureBlock&, const std::uint16_t* last,
                           const RowIndex* rows, const std::int64_t* sums,
                           const std::int64_t* weights, std::size_t n, std::int64_t* sum,
                           std::int64_t* weight);
};

}  // namespace arboleda
