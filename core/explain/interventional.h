// Shapley values against background rows: a player outside the coalition takes the values of a background
// row, and the value of the coalition is the mean over these rows. Janzing, Minorics & Blöbaum (2020),
// "Feature relevance quantification in explainable AI: a causal problem"; Lundberg et al. (2020), "From
// local explanations to global understanding with explainable AI for trees", algorithm 3.
//
// A row x and a background row b separate where they go different ways. On the path to a leaf, A are the
// players who must be in (x goes there, b does not), B those who must be out; all others do not matter. With
// a and b of them, a leaf of value v gives
//
//   to each of A    v (a-1)! b! / (a+b)!
//   to each of B   -v a! (b-1)! / (a+b)!
//
// Background rows that have come the same way with the same A and B go on together, as bits of a set: a
// row walks through a tree once, and its set splits where it splits.
#pragma once

#include <cstddef>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "explain/additive_trees.h"
#include "explain/shap_values.h"

namespace arboleda {

struct AgainstBackground {
  std::vector<double> values;  // rows x players x outputs, row-major
  std::vector<double> base;    // mean scores of the background rows
};

// Values and base add up to the scores. Table: TableView or SparseRows. Throws Error(invalid_argument) as
// shap_values() does, or where there is no background row.
template <class Table>
AgainstBackground shap_values_against(const AdditiveTrees& trees, const Players& players,
                                      const Table& table, const Table& background,
                                      const Context& context);

}  // namespace arboleda
