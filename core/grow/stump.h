// Grows stumps (trees of one split) of two classes, by the Gini index, over the same rows again and again,
// as boosting does. The split is the Grower's, including ties; it is found faster, because all that does
// not depend on the weights is computed once.
//
//   listed   columns of few values: the rows of every value but the most frequent one, whose weight is
//            the total less that of the others. In a one-hot encoding few rows are listed
//   cells    columns of few values where the most frequent one is not that frequent: one sum per value
//   sorted   columns of many values: all rows, ascending
//
// Sums of the first two are exact and every split is scored as the Grower does it. Sorted columns are
// first summed in blocks, with weights of 31 bits and gains in single precision, which exclude all but a
// few blocks, and then all but a few of their splits, with certainty (simd/stump_kernels.h); these are scored
// with exact sums.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/growth_options.h"
#include "grow/row_partition.h"
#include "split/split.h"
#include "tree/tree.h"

namespace arboleda {

class StumpSearch;

class StumpGrower {
 public:
  // Whether these trees are stumps that this can grow: of numeric columns, two classes, all columns
  // looked at, and no limit but the depth.
  static bool can_grow(const BinnedDataset& table, std::size_t n_classes,
                       const GrowthOptions& options);

  // rows: those that may have a weight, ascending. All must outlive this.
  StumpGrower(const BinnedDataset& table, std::span<const std::uint32_t> labels,
              std::span<const RowIndex> rows);
  ~StumpGrower();

  // weights: of the table's rows; at least one of `rows` counts, and no other row does.
  TreeArrays grow(const FixedWeights& weights, const Context& context);

 private:
  // What a split does to the rows that count.
  Partition count(const Split& split, std::span<const std::uint64_t> weight, bool all_count);

  const BinnedDataset& table_;
  const std::span<const std::uint32_t> labels_;
  const std::span<const RowIndex> rows_;
  const std::unique_ptr<StumpSearch> search_;
  std::vector<std::uint64_t> ones_;  // weights, where all that count weigh the same
  std::vector<Code> codes_;
};

}  // namespace arboleda
