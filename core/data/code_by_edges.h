// Codes of arbitrary values by the edges of a column. A value between the largest of one code and the
// smallest of the next belongs to the first if it is not above their midpoint; one below all has the
// first code, one above all the last; NaN has the missing code.
//
//   upper[c]      midpoint      values[c+1]
//   ---|-------------|--------------|---
//    c   c     c     c  c+1    c+1
//
// Values that the edges were learned from lie in no gap, so that their codes come out as well.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "data/column.h"

namespace arboleda {

// The narrowest type of codes for the column, one a row, all 0.
void allocate_codes(CodedColumn& column, std::size_t n_rows);

// Codes of all rows. The columns of `coded` have all but their codes; they have values unless they
// are categorical or n_values is 0.
void code_by_edges(const TableView& table, const Context& context, int n_threads,
                   BinnedDataset& coded);

// The same of one column.
void code_by_edges(const ColumnView& view, std::size_t n_rows, CodedColumn& column);

// Codes of some values of a numeric column.
std::vector<Code> code_by_edges(std::span<const double> x, const CodedColumn& column);

}  // namespace arboleda
