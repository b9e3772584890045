// Codes of one column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/coded_table.h"
#include "data/rank.h"

namespace arboleda {

// With more distinct values than `kept_values` they are not written to the column. A 0 in x stands
// for `rows_a_zero` rows; if that is not 1, x has one 0.
void code_numeric(const ColumnValues& x, std::size_t max_bins, std::size_t kept_values,
                  CodedColumn& column, std::size_t rows_a_zero = 1);

void code_categorical(const ColumnView& view, std::size_t n_rows, std::uint32_t n_categories,
                      CodedColumn& column);

// Entries begin .. end of a sparse table are the column; rows without an entry are 0.
void code_sparse(const SparseLines& lines, std::size_t begin, std::size_t end, std::size_t n_rows,
                 std::size_t max_bins, CodedColumn& column);

}  // namespace arboleda
