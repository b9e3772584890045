// Pre-pruning by a validation set: a tree stops growing where a split does not lower the error on rows held
// out from growing. Zhou (2021), "Machine Learning", section 4.3.1.
//
// The rule is stated for growing: when node t is about to be split into l and r, keep the split if
// E(l) + E(r) < E(t), E being the errors on the held-out rows that pass a node were it a leaf, and make
// t a leaf otherwise. It is computed on the tree that is already grown, and gives the same tree: the
// split of a node depends on the node's own rows, not on whether any other node is split, so the
// recursion would have made the same splits until it stopped, and the first node on each path that
// fails the test ends the path. (Best-first growth to a number of leaves is the exception; there it is
// the grown tree that is cut.)
//
// Reduced-error pruning (reduced_error.h) goes from the leaves up and compares a node with the best
// tree below it. Looking one split ahead only, this stops at a split that is useless by itself, as the
// first one of an exclusive or is. Every split that passes the test here is kept there, too.
#pragma once

#include "base/context.h"
#include "tree/node_errors.h"
#include "tree/tree.h"

namespace arboleda {

Tree validation_pruned(const Tree& tree, const ValidationRows& rows, Loss loss,
                       const Context& context);

}  // namespace arboleda
