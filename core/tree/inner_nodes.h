// What is known of the inner nodes of a tree, from its leaves. Values are weighted means; impurity is
// that of the class shares, or follows from the law of total variance and its like for deviance:
//
//   impurity = sum_c p_c (impurity_c + distance(mean_c, mean)),  p_c the share of child c in the weight
//
// with the square of the difference, or the Poisson deviance between the means. All terms are positive:
// nothing cancels, and what comes out is what growing measured, up to rounding.
#pragma once

#include "tree/compact_tree.h"
#include "tree/tree.h"

namespace arboleda {

// Fills value, impurity, weight and n_node_samples of inner nodes; those of leaves are there, and so
// are values and impurities of inner nodes where the measure keeps them.
void fill_inner_nodes(TreeArrays& tree, Measure measure);

}  // namespace arboleda
