// Splits of sorted columns for stumps: see stump.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/kernels.h"
#include "data/coded_table.h"
#include "grow/best_stump.h"
#include "grow/stump_columns.h"

namespace arboleda {

class SortedStumps {
 public:
  // All must outlive this.
  SortedStumps(const CodedTable& table, std::span<const std::uint32_t> labels,
               std::span<const RowIndex> rows)
      : table_(table), labels_(labels), rows_(rows) {}

  // Call before the columns are searched: see StumpSearch::find.
  void begin(std::span<const std::uint64_t> weight, ClassPair total);

  // The largest gain of a column's splits, within rounding() of it; -1 where there is none. Columns may
  // be asked by several threads at once.
  double rough_gain(const StumpColumn& column) const;
  double rounding() const;

  // Considers the splits of a column whose gain may be `floor` or more.
  void search(const StumpColumn& column, double floor, BestStump& best) const;

 private:
  struct Block;
  struct Scan;

  void sum_block(const StumpColumn& column, std::size_t first, PackedWeights& sum,
                 Block& block) const;
  PackedWeights packed_sum(std::span<const RowIndex> rows) const;
  ClassPair exact_sum_of(std::span<const RowIndex> rows) const;
  void scan(const StumpColumn& column, const Scan& scan, BestStump& best) const;
  bool find_codes(const StumpColumn& column, std::size_t place, Split& candidate) const;

  const CodedTable& table_;
  const std::span<const std::uint32_t> labels_;
  const std::span<const RowIndex> rows_;
  const Kernels& kernels_ = kernels();
  std::span<const std::uint64_t> weight_;
  std::vector<PackedWeights> packed_;  // of each row of the table
  PackedWeights packed_total_ = 0;
};

}  // namespace arboleda
