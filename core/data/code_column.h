// Codes of one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/binned_dataset.h"
#include "data/rank.h"

namespace arboleda {

// Exact codes. With more distinct values than `kept_values` they are not written to the column.
void code_numeric(const ColumnValues& x, std::size_t kept_values, CodedColumn& column);

// All but the codes of a categorical column.
void learn_categorical(const ColumnView& view, std::size_t n_rows, std::uint32_t n_categories,
                       CodedColumn& column);

// A column of a sparse table: the entries that are not 0, and their rows, ascending.
struct SparseColumn {
  std::size_t n_rows = 0;
  std::vector<RowIndex> rows;
  std::vector<double> entries;
};

SparseColumn read_sparse(const SparseColumns& table, std::size_t column);

void code_sparse(const SparseColumn& x, const CodingOptions& options, CodedColumn& column);

// Whether the codes of so many entries take less memory in a list than one a row.
bool takes_less_listed(const CodedColumn& column, std::size_t n_rows, std::size_t n_entries);

// By the edges that the column has.
void code_sparse_by_edges(const SparseColumn& x, CodedColumn& column);

// The same of a shard, whose codes are listed if those of all shards are.
void code_sparse_shard(const SparseColumn& x, bool is_listed, CodedColumn& column);

}  // namespace arboleda
