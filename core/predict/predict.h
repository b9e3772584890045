// Predictions of a tree for the rows of a table. Pure functions of (tree, table): safe to call from
// several threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "tree/tree.h"

namespace arboleda {

// The predictions are the same for a sparse table. Table: TableView or
// SparseRows.

// The leaf of every row; out has table.n_rows entries.
template <class Table>
void apply_tree(const Tree& tree, const Table& table, const Context& context,
                std::span<NodeIndex> out);

// The value of every row's leaf; out is rows x tree outputs, row-major.
template <class Table>
void predict_tree(const Tree& tree, const Table& table, const Context& context,
                  std::span<double> out);

// The nodes every row passes, root first, as the indices of a CSR matrix rows x nodes.
struct DecisionPath {
  std::vector<std::int64_t> start;  // n_rows + 1
  std::vector<NodeIndex> node;
};
template <class Table>
DecisionPath decision_path(const Tree& tree, const Table& table, const Context& context);

}  // namespace arboleda
