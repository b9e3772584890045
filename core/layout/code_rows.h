// The one-byte codes of a table row by row. A node of few rows reads the codes of a row side by side,
// where the columns would have them far apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"

namespace arboleda {

// One column of them.
struct StridedCodes {
  const std::uint8_t* first;
  std::size_t stride;

  Code operator[](RowIndex row) const { return first[row * stride]; }
};

class CodeRows {
 public:
  CodeRows() = default;  // empty

  // For nodes that look at max_features columns. Empty where there is nothing to gain: all columns are
  // looked at, or the table is small enough for the caches as it is.
  CodeRows(const BinnedDataset& table, FeatureIndex max_features, const Context& context);

  // Whether to read the codes of a column here in a node of so many rows.
  bool serves(FeatureIndex feature, std::size_t n_rows) const {
    return n_rows <= most_rows_ && place_[static_cast<std::size_t>(feature)] != kNone;
  }
  StridedCodes column(FeatureIndex feature) const {
    return {codes_.data() + place_[static_cast<std::size_t>(feature)], stride_};
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t most_rows_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::size_t> place_;  // of each column in a row
  std::vector<std::uint8_t> codes_;
};

}  // namespace arboleda
