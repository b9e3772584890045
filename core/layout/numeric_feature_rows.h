// The codes of a table's numeric features row by row, for searches that read many of them at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "simd/numeric_feature_kernels.h"

namespace arboleda {

// One column of them.
struct NumericFeatureCodes {
  const std::uint16_t* first;
  std::size_t stride;

  Code operator[](RowIndex row) const { return first[row * stride]; }
};

class NumericFeatureRows {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  NumericFeatureRows() = default;  // empty

  // For nodes that look at max_features columns, -1 for all. Without columns of categories, of missing
  // values, of two values and of more than 2^16; empty where few of those that stand side by side would
  // be looked at together.
  NumericFeatureRows(const BinnedDataset& table, FeatureIndex max_features, const Context& context);

  bool empty() const { return stride_ == 0; }
  std::size_t n_numbers() const { return feature_.size(); }
  std::size_t n_places() const { return stride_; }  // a multiple of a block's columns, not less

  FeatureIndex feature_at(std::size_t place) const { return feature_[place]; }

  // The place of a column in a row, or kNone.
  std::size_t place(FeatureIndex feature) const {
    return empty() ? kNone : place_[static_cast<std::size_t>(feature)];
  }

  NumericFeatureCodes codes_at(std::size_t place) const { return {codes_.data() + place, stride_}; }

  // The columns that stand together with that at a place.
  NumericFeatureBlock block_of(std::size_t place) const {
    return {codes_.data() + place / NumericFeatureBlock::kColumns * NumericFeatureBlock::kColumns,
            stride_};
  }

 private:
  std::size_t stride_ = 0;
  std::vector<std::size_t> place_;     // of each column
  std::vector<FeatureIndex> feature_;  // at each place
  std::vector<std::uint16_t> codes_;
};

}  // namespace arboleda
