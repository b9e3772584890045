// The values that bound the codes of a numeric column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/column.h"

namespace arboleda {

// Scratch of one thread.
struct EdgeScratch {
  std::vector<std::int32_t> keys_32, spare_32;
  std::vector<std::int64_t> keys_64, spare_64;
};

// Learns n_values, values and upper from the given rows (ascending; empty: all), and has_missing
// from all. A 0 stands for `rows_a_zero` rows; if that is not 1, there is one 0 among the rows.
void learn_edges(const ColumnView& view, std::size_t n_rows, std::span<const RowIndex> rows,
                 std::size_t max_bins, EdgeScratch& scratch, CodedColumn& column,
                 std::size_t rows_a_zero = 1);

}  // namespace arboleda
