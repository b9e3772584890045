// Stable partition of a node's row list by a split.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "layout/row_layouts.h"
#include "split/split.h"

namespace arboleda {

inline constexpr RowIndex kNoRow = UINT32_MAX;

struct Partition {
  std::size_t n_left = 0;
  std::size_t n_missing = 0;   // rows whose value of the feature is missing
  RowIndex low_row = kNoRow;   // some row of the code split.code,
  RowIndex high_row = kNoRow;  // and of split.next_code
};

// Scratch of one thread.
struct PartitionScratch {
  std::vector<RowIndex> rows;
  std::vector<Code> codes;
  std::vector<std::uint8_t> goes_left;  // for each category; all 0 between two uses
};

// rows: ascending. Afterwards those that go left come first; both sides keep their order. layouts: of the
// table that the column is of; the codes are read where the search of the split has read them.
Partition partition_rows(const CodedColumn& column, const RowLayouts& layouts, const Split& split,
                         std::span<RowIndex> rows, PartitionScratch& scratch);

// The threshold of a split by it: midway between the neighbouring values.
double threshold_between(const CodedColumn& column, const Split& split, const Partition& partition);

// The categories among the rows, without missing, ascending.
std::vector<CategoryIndex> categories_among(const CodedColumn& column,
                                            std::span<const RowIndex> rows,
                                            PartitionScratch& scratch);

}  // namespace arboleda
