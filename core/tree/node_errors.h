// How wrong each node of a tree is about given rows: what pruning on rows of their own is based on.
//
// A row passes the nodes from the root to its leaf, and in any pruned tree it ends in one of them.
// So the sums
//   E(t) = sum over the rows that pass t of  weight x loss(target, prediction of t)
// give the error of every pruned tree: it is the sum of E over its leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "tree/tree.h"

namespace arboleda {

enum class Loss {
  misclassification,  // 1 unless the target is the class of the largest share (the first such)
  squared_error,
  absolute_error,
  poisson_deviance,  // 2 (y log(y / mean) - y + mean); infinite for y > 0 where the mean is 0
};

// Rows on which a tree is evaluated.
struct ValidationRows {
  std::span<const NodeIndex> leaf;  // where each row ends in the whole tree
  std::span<const double> target;   // the number of its class, or its value
  std::span<const double> weight;   // empty: every row counts 1
};

// E(t) of every node. Class errors are exact: weights are rounded to multiples of a unit, as many in
// all as float64 counts. Throws Error(invalid_argument) where lengths differ, a leaf is none of the
// tree's, a weight is negative or not finite, or none is positive.
std::vector<double> node_errors(const Tree& tree, const ValidationRows& rows, Loss loss,
                                const Context& context);

}  // namespace arboleda
