// Shapley values of the columns of a table for the scores of additive trees. Pure functions of
// (trees, table): safe to call from several threads at once. Rows are explained one by one, and what the
// trees contribute is added in their order, whatever the number of threads: the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
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

// Throws Error(invalid_argument) unless there is a player for each of the columns that the trees were
// fitted on, and the table has so many columns.
void check_players(const AdditiveTrees& trees, const Players& players, std::size_t n_columns);

// By the game of shap_steps.h: rows x players x outputs, row-major. They sum over players to the scores
// less expected_scores(). Table: TableView or SparseRows.
template <class Table>
std::vector<double> shap_values(const AdditiveTrees& trees, const Players& players,
                                const Table& table, const Context& context);

// How much more two players are worth together than each by himself, half of it to each: rows x players x
// players x outputs, row-major. On the diagonal stands what is left of a player's value, so that rows sum
// to the values. Symmetric. Lundberg, Erion & Lee (2018), equations 8 to 10:
//
//   phi_ij = sum over sets S without i and j of |S|! (M - |S| - 2)! / (2 (M - 1)!)
//              (f(S + i + j) - f(S + i) - f(S + j) + f(S))
//
// which is half of what i gets in the game where j is always in, less what he gets where j is out.
template <class Table>
std::vector<double> shap_interactions(const AdditiveTrees& trees, const Players& players,
                                      const Table& table, const Context& context);

}  // namespace arboleda
