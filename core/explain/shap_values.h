// Shapley values of the columns of a table for the scores of trees that add up. Pure functions of
// (trees, table): safe to call from several threads at once. Rows are explained one by one, and what the
// trees say is added in their order, whatever the number of threads: the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "explain/additive_trees.h"

namespace arboleda {

// Columns that enter the game together.
struct Players {
  std::vector<std::uint32_t> of_column;
  std::size_t n = 0;
};

// By the game of shap_steps.h: rows x players x outputs, row-major. They sum over players to the scores
// less expected_scores(). Table: TableView or SparseRows. Throws Error(invalid_argument) unless there is a
// player for each column that the trees were fitted on, and the table has these columns.
template <class Table>
std::vector<double> shap_values(const AdditiveTrees& trees, const Players& players,
                                const Table& table, const Context& context);

}  // namespace arboleda
