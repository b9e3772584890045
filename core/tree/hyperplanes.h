// Trees whose nodes test hyperplanes: what an extended isolation forest comes out as (learn/isolation.h).
//
// The nodes of all trees stand in preorder, one tree after the other; the left child of a node is the next
// one. An inner node goes left where sum_j weight_j (x_j - point_j) <= 0 over its n_terms terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace arboleda {

struct HyperplaneForest {
  FeatureIndex n_features = 0;
  std::size_t n_terms = 0;
  std::vector<std::int64_t> root;  // the first node of each tree, and the number of nodes
  // Of each node: the right child, -1 in a leaf; its place among inner nodes, or among leaves.
  std::vector<std::int64_t> right, place;
  std::vector<double> value;  // of each leaf
  // Inner node x term; a term of weight 0 counts nothing.
  std::vector<std::int64_t> feature;
  std::vector<double> weight, point;

  std::size_t n_trees() const { return root.empty() ? 0 : root.size() - 1; }
};

// Throws Error(invalid_argument) unless all that is promised above holds, so that the trees are safe to
// walk, wherever the arrays came from.
void check_hyperplanes(const HyperplaneForest& forest);

}  // namespace arboleda
