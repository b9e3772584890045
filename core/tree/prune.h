// Cost-complexity pruning: Breiman, Friedman, Olshen, Stone (1984), chapter 3.
//
// With R(t) = w_t/w impurity(t), the cost of a subtree T is C_a(T) = sum over its leaves R + a |T|.
// An internal node t is worth its subtree T_t as long as a is below
//   g(t) = (R(t) - R(T_t)) / (|T_t| - 1).
// Cutting the node with the smallest g, again and again, gives nested trees, each the best for an
// interval of a. Equal g: the node that comes first in preorder.
#pragma once

#include <vector>

#include "tree/tree.h"

namespace arboleda {

// One step of the sequence; step 0 is the whole tree. `alpha` is where its tree becomes the best.
struct PruningStep {
  double alpha;
  double impurity;  // sum of R over the leaves
  NodeIndex n_leaves;
  NodeIndex cut;  // the node that this step made a leaf; -1 in step 0
};

// The whole sequence down to the root alone, in the unit of the impurities of the caller.
std::vector<PruningStep> pruning_path(const Tree& tree);

// The smallest tree among those that are best for `alpha` (0 or more).
Tree pruned(const Tree& tree, double alpha);

// The tree without what lies below the nodes that `cut` marks: those become leaves.
Tree cut_below(const Tree& tree, const std::vector<bool>& cut);

}  // namespace arboleda
