// Trees that add up: a row's score of output k is start[k] plus the values of its leaves in the trees
// k, k + K, k + 2K, ..; one round of boosting makes K = n_outputs trees.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tree/linear_leaves.h"
#include "tree/tree.h"

namespace arboleda {

struct TreeEnsemble {
  std::vector<double> start;  // one an output
  std::vector<Tree> trees;    // each of one value a leaf, learning rate included
  LinearLeaves linear = {};   // of the nodes of all trees, learning rate included

  std::size_t n_outputs() const { return start.size(); }
  std::size_t n_rounds() const { return start.empty() ? 0 : trees.size() / start.size(); }
};

// Throws Error(invalid_argument) unless there is an output, the start is finite, every round is whole,
// every tree has one value a leaf and the number of features of the others, and linear leaves are leaves
// of these trees.
void check_ensemble(const TreeEnsemble& ensemble);

// Linear leaves of the trees [first, last) alone.
LinearLeaves linear_leaves(const TreeEnsemble& ensemble, std::size_t first, std::size_t last);

void add_tree(TreeEnsemble& ensemble, Tree tree, const LinearLeaves& linear);

// The first rounds alone.
void truncate(TreeEnsemble& ensemble, std::size_t n_rounds);
TreeEnsemble truncated(const TreeEnsemble& ensemble, std::size_t n_rounds);

// The rounds of `ensemble`, then those of `more`, whose start is unused: they continue the
// scores that the first ones left.
TreeEnsemble extended(const TreeEnsemble& ensemble, const TreeEnsemble& more);

// One ensemble whose scores are the means of those of several: their rounds in turn, one of each, with
// values divided by their number; those with fewer rounds end sooner. At least one, of equal outputs.
TreeEnsemble mean_of(std::span<const TreeEnsemble> members);

// How much each feature did, as shares of the whole; zeros where no tree has a split.
//
// By impurity: Tree::impurity_decrease summed over the trees. Friedman (2001), section 8.1.
std::vector<double> impurity_importances(const TreeEnsemble& ensemble);

// By gain: the sum of what the splits by each feature gained. In trees grown from gradients and
// hessians the `impurity` of a node is the gain of its split.
std::vector<double> gain_importances(const TreeEnsemble& ensemble);

}  // namespace arboleda
