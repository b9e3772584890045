// Predictions of additive trees for the rows of a table. Pure functions of (ensemble, table): safe to
// call from several threads at once. Leaf values are added in float64, tree by tree in their order,
// whatever the number of threads: the same bits as in training.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "predict/coded_trees.h"
#include "predict/round_walks.h"
#include "tree/ensemble.h"

namespace arboleda {

// Trees of an ensemble laid out for many rows, once for all tables.
class CodedEnsemble {
 public:
  // Whether the trees can be held: none of them is too large, and no leaf is linear.
  static bool can_hold(const TreeEnsemble& ensemble);
  explicit CodedEnsemble(const TreeEnsemble& ensemble);

  // One a round where the trees of a round have the same splits, else one a round and output.
  const CodedTrees& trees() const { return trees_; }
  std::size_t trees_a_round() const { return trees_a_round_; }

  // Of the leaves of a tree, by their numbers; of all outputs side by side where it is the tree of a round.
  const double* values(std::size_t tree) const { return &values_[first_value_[tree]]; }

 private:
  explicit CodedEnsemble(const RoundWalks& walks, std::size_t n_outputs);

  CodedTrees trees_;
  std::size_t trees_a_round_;
  std::vector<double> values_;
  std::vector<std::size_t> first_value_;
};

// Table: TableView or SparseRows. coded: the trees of this ensemble, for callers who keep them; they take
// part where that is faster than to walk, and the scores are the same.

// Adds the leaf values of the rounds [first_round, last_round) to scores: rows x outputs, row-major.
template <class Table>
void add_scores(const TreeEnsemble& ensemble, std::size_t first_round, std::size_t last_round,
                const Table& table, const Context& context, std::span<double> scores,
                const CodedEnsemble* coded = nullptr);

// Start and all rounds: rows x outputs, row-major.
template <class Table>
std::vector<double> predict_scores(const TreeEnsemble& ensemble, const Table& table,
                                   const Context& context, const CodedEnsemble* coded = nullptr);

// The leaf of every row in every tree: rows x trees, row-major.
template <class Table>
std::vector<NodeIndex> apply_ensemble(const TreeEnsemble& ensemble, const Table& table,
                                      const Context& context);

}  // namespace arboleda
