// The columns of two values (categories of a one-hot encoding, yes or no) row by row: what one pass
// over a node's rows sums up for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flag_kernels.h"
#include "data/coded_table.h"

namespace arboleda {

class FlagTable {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  FlagTable() = default;  // empty

  // max_features: columns that a node looks at, or -1 for all. The table is empty where so few are
  // looked at that summing up all columns would take longer.
  FlagTable(const CodedTable& table, FeatureIndex max_features);

  bool empty() const { return n_flags_ == 0; }
  FlagRows rows() const { return {flags_.data(), stride_}; }

  // The place of a column in a row, or kNone.
  std::size_t place(FeatureIndex feature) const {
    return empty() ? kNone : place_[static_cast<std::size_t>(feature)];
  }

 private:
  std::size_t n_flags_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::size_t> place_;  // of each column
  std::vector<std::uint8_t> flags_;
};

}  // namespace arboleda
