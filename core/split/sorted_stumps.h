// Splits of sorted columns for stumps: see grow/stump.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.h"
#include "simd/kernels.h"
#include "split/best_stump.h"
#include "split/stump_columns.h"

namespace arboleda {

// The life of a search:
//
//   1. begin()      weights become small integers
//   2. bound()      every column, by any thread: sums of its blocks, and what gain none of a block's
//                   places exceeds
//   3. look_into()  blocks whose bound is large enough: the gains of their places
//   4. search()     places whose gain is large enough: exactly
class SortedStumps {
 public:
  // All must outlive this.
  SortedStumps(const BinnedDataset& table, std::span<const std::uint32_t> labels)
      : table_(table), labels_(labels) {}

  void add(StumpColumn column);
  std::size_t size() const { return columns_.size(); }

  // Call before the columns are searched: see StumpSearch::find.
  void begin(std::span<const std::uint64_t> weight, ClassPair total);

  // Rough gains are within rounding() of the true ones. The largest one of some of the column's splits;
  // -1 where there is none.
  double bound(std::size_t column);

  // Finds the places whose rough gain is `floor` or more; returns the largest, or -1.
  double look_into(std::size_t column, double floor);

  // Considers those of them whose gain is `floor` or more.
  void search(std::size_t column, double floor, BestStump& best) const;

  double rounding() const;

 private:
  // A split: after this row of the column's order.
  struct Place {
    std::uint32_t at;
    float gain;
    bool missing_left;
  };

  struct Column {
    StumpColumn sorted;
    // Of the search that goes on.
    std::vector<PackedWeights> sums;  // before each block, and after the last
    std::vector<float> bounds[2];     // of each block; missing values on the right and on the left
    PackedWeights missing = 0;
    std::vector<Place> places;
  };

  void look_into(Column& column, bool missing_left, float floor, float& largest) const;
  ClassPair exact_sum_of(std::span<const RowIndex> rows) const;
  bool find_codes(const StumpColumn& column, std::size_t place, Split& candidate) const;

  const BinnedDataset& table_;
  const std::span<const std::uint32_t> labels_;
  const Kernels& kernels_ = kernels();
  std::vector<Column> columns_;
  std::span<const std::uint64_t> weight_;
  std::vector<PackedWeights> packed_;  // of each row of the table
  PackedWeights packed_total_ = 0;
};

}  // namespace arboleda
