// The values of a tree's leaves, found anew from the rows that reached them. Leaves without rows keep
// theirs.
#pragma once

#include <span>

#include "base/context.h"
#include "objective/objective.h"
#include "tree/leaf_rows.h"
#include "tree/tree.h"

namespace arboleda {

// Of shards, a leaf has rows where the tree counts some.

// The best constant step of the loss in each leaf: Friedman (2001), algorithm 1, line 5. Kept within
// the leaf's bounds, and within max_delta_step unless that is 0.
void set_best_steps(const Objective& objective, std::span<const double> scores, std::size_t output,
                    double max_delta_step, const LeafRows& leaves, const Context& context,
                    TreeArrays& tree);

// One Newton step from 0, times a factor: -factor sum of gradients / sum of hessians; 0 where the
// hessians vanish. No hessian: all are 1. Friedman (2001), algorithms 5 (factor 1) and 6 (factor
// (K - 1)/K). The sums do not depend on the order of rows.
void set_newton_steps(std::span<const double> gradient, std::span<const double> hessian,
                      double factor, const LeafRows& leaves, const Context& context,
                      TreeArrays& tree);

}  // namespace arboleda
