// The walks that find the leaves of all trees of an ensemble: one for each tree or, where the trees of every
// round have the same splits (learn/boosting.h, shares_trees), one for each round. The leaf of a walk then
// has the values of all outputs side by side.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tree/ensemble.h"

namespace arboleda {

class RoundWalks {
 public:
  // Of the rounds [first_round, last_round); the ensemble must outlive this.
  RoundWalks(const TreeEnsemble& ensemble, std::size_t first_round, std::size_t last_round);

  // Whether a walk is for all outputs of a round.
  bool are_shared() const { return !first_trees_.empty(); }

  // The trees to walk down.
  std::span<const Tree> trees() const { return are_shared() ? std::span(first_trees_) : trees_; }

  // Of shared walks: the values of a node, one an output. walk: a tree of trees().
  const double* values(std::size_t walk, std::size_t node) const {
    return &values_[(first_node_[walk] + node) * n_outputs_];
  }

 private:
  std::span<const Tree> trees_;  // of all outputs
  std::size_t n_outputs_;
  std::vector<Tree> first_trees_;  // of each round, where walks are shared
  std::vector<std::size_t> first_node_;
  std::vector<double> values_;
};

}  // namespace arboleda
