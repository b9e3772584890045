// The error of all trees of a pruning sequence on given rows, in one pass: what cross-validation of
// alpha needs. Breiman, Friedman, Olshen, Stone (1984), sections 3.4 and 11.5.
#pragma once

#include <span>
#include <vector>

#include "base/context.h"
#include "tree/node_errors.h"
#include "tree/tree.h"

namespace arboleda {

// Sum of weight x loss of `pruned(tree, alpha)` for every alpha; alphas ascend.
std::vector<double> pruning_errors(const Tree& tree, const ValidationRows& rows, Loss loss,
                                   std::span<const double> alphas, const Context& context);

}  // namespace arboleda
