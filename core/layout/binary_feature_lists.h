// Binary features as lists: for each row, the features in which it has the larger value. In a one-hot
// encoding that is one feature per encoded column, so that adding a row to the sums of its features costs
// as much as reading so few columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/binary_feature_table.h"

namespace arboleda {

class BinaryFeatureLists {
 public:
  BinaryFeatureLists() = default;  // empty

  // For nodes that look at all columns. Empty where rows have too many flags for a gain.
  explicit BinaryFeatureLists(const BinnedDataset& table);

  bool empty() const { return start_.empty(); }
  std::size_t n_flags() const { return n_flags_; }

  // The number of a column among the flags, or kNone.
  std::size_t place(FeatureIndex feature) const {
    return empty() ? BinaryFeatureTable::kNone : place_[static_cast<std::size_t>(feature)];
  }
  std::span<const std::uint32_t> of(RowIndex row) const {
    return std::span(listed_).subspan(start_[row], start_[row + 1] - start_[row]);
  }

 private:
  std::size_t n_flags_ = 0;
  std::vector<std::size_t> place_;     // of each column
  std::vector<std::size_t> start_;     // of each row's list, and the end of the last
  std::vector<std::uint32_t> listed_;  // places
};

// Scratch of one thread: the sums over each flag's rows in a node.
template <class Criterion>
class BinaryFeatureCells {
 public:
  using Slot = typename Criterion::Slot;

  BinaryFeatureCells(const BinaryFeatureLists& lists, const Criterion& criterion)
      : lists_(lists), criterion_(criterion) {}

  bool has(FeatureIndex feature) const {
    return Criterion::kHasCells && lists_.place(feature) != BinaryFeatureTable::kNone;
  }

  template <class Node>
  void sum(const Node& node) {
    if constexpr (Criterion::kHasCells) {
      if (lists_.empty()) return;
      const std::size_t width = criterion_.width();
      cells_.assign(lists_.n_flags() * width, Slot{});
      for (std::size_t i = 0; i < node.rows.size(); ++i) {
        for (const std::uint32_t flag : lists_.of(node.rows[i])) {
          criterion_.add(node.local, i, &cells_[flag * width]);
        }
      }
    }
  }

  const Slot* cell_of(FeatureIndex flag) const {
    return &cells_[lists_.place(flag) * criterion_.width()];
  }

 private:
  const BinaryFeatureLists& lists_;
  const Criterion& criterion_;
  std::vector<Slot> cells_;
};

}  // namespace arboleda
