// Answers of trees that add up, for the rows of a table. Pure functions of (ensemble, table): safe to
// call from several threads at once. Leaf values are added in float64, tree by tree in their order,
// whatever the number of threads: the same bits as in training.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "tree/ensemble.h"

namespace arboleda {

// Table: TableView or SparseRows.

// Adds the leaf values of the rounds [first_round, last_round) to scores: rows x outputs, row-major.
template <class Table>
void add_scores(const TreeEnsemble& ensemble, std::size_t first_round, std::size_t last_round,
                const Table& table, const Context& context, std::span<double> scores);

// Start and all rounds: rows x outputs, row-major.
template <class Table>
std::vector<double> predict_scores(const TreeEnsemble& ensemble, const Table& table,
                                   const Context& context);

// The leaf of every row in every tree: rows x trees, row-major.
template <class Table>
std::vector<NodeIndex> apply_ensemble(const TreeEnsemble& ensemble, const Table& table,
                                      const Context& context);

}  // namespace arboleda
