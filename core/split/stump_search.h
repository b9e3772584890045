// Finds the best split of all rows by the Gini index of two classes: see grow/stump.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "split/best_stump.h"
#include "split/sorted_stumps.h"
#include "split/stump_columns.h"

namespace arboleda {

class StumpSearch {
 public:
  // rows: those that may have a weight, ascending. All must outlive this.
  StumpSearch(const BinnedDataset& table, std::span<const std::uint32_t> labels,
              std::span<const RowIndex> rows);

  // weight: one a row of the table, 0 where it does not count; it must outlive the search. total: of
  // both classes, each of which there is some of.
  BestStump find(std::span<const std::uint64_t> weight, ClassPair total, const Context& context);

 private:
  using Cells = std::vector<ClassPair>;  // one a code

  void find_few(const StumpColumn& column, Cells& cells, BestStump& best) const;
  void find_sorted(BestStump& best);
  void sum_listed(const StumpColumn& column, Cells& cells) const;
  void sum_cells(const StumpColumn& column, Cells& cells) const;
  void scan_cells(const StumpColumn& column, const Cells& cells, BestStump& best) const;

  const BinnedDataset& table_;
  const std::span<const std::uint32_t> labels_;
  const std::span<const RowIndex> rows_;
  std::vector<StumpColumn> columns_;  // those that are neither constant nor sorted
  SortedStumps sorted_;
  std::vector<double> rough_;  // the largest gain seen of each sorted column

  // Of the search that goes on.
  std::span<const std::uint64_t> weight_;
  ClassPair total_;
};

}  // namespace arboleda
