// Reduced-error pruning: J. R. Quinlan (1987), "Simplifying decision trees", section 2.2.
//
// The tree is evaluated on rows that it did not grow from. A node is made a leaf when that makes no more errors
// than its subtree does, and no node below it has the same property; again and again, until every
// further removal would hurt. The proviso makes the order of the removals irrelevant: whether t
// goes is settled once all below t is. By induction from the leaves up, what is then left below t is
// the tree with the fewest errors on t's rows, and the smallest such: it is either t alone, with
// E(t) errors, or the two children's, which are independent of each other. So one pass from the
// leaves up does it, and of all pruned trees the result has the fewest errors, and of those the
// fewest leaves.
//
// Without the proviso ("always remove the node that helps most") a node may go that helps by 6 while
// two nodes below it would help by 5 each.
#pragma once

#include "base/context.h"
#include "tree/node_errors.h"
#include "tree/tree.h"

namespace arboleda {

Tree reduced_error_pruned(const Tree& tree, const ValidationRows& rows, Loss loss,
                          const Context& context);

}  // namespace arboleda
