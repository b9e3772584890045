// Linear functions in the leaves of a boosted tree: Shi, Li & Li (2019), "Gradient boosting with
// piece-wise linear regression trees", section 3.
//
// For the rows of a leaf with gradients g and hessians h, f(x) = c + sum_j w_j z_j minimises
//
//   sum_i (g_i f(x_i) + 1/2 h_i f(x_i)^2) + l2/2 c^2 + slope_l2/2 sum_j w_j^2
//
// over the numeric columns j on the way to the leaf. z_j is x_j less its mean in the leaf (each row
// counts h), in units of its range there: slopes are what the score changes by across the leaf, and a
// column in metres has those of a column in miles. As the z_j have mean 0, c is the step of the constant
// leaf, -sum g / (l2 + sum h), and the slopes solve
//
//   (Z' H Z + slope_l2 I) w = -Z' g
//
// by Cholesky. All sums are order-free (base/exact_sum.h): rows in another order, on other threads, or in
// several shards (base/shards.h) give the same bits. Shards share, for all leaves of a tree at once, ranges;
// where rows lack values, those of complete rows; and sums.
#pragma once

#include <span>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "tree/leaf_rows.h"
#include "tree/linear_leaves.h"
#include "tree/tree.h"

namespace arboleda {

struct LinearLeafOptions {
  bool is_on = false;
  double slope_l2 = 1.0;
};

// Linear leaves of a tree just grown, from the rows of its leaves, without learning rate. A leaf stays
// constant where no column varies, where it has too few rows for a column, or where the columns hold the
// same and slope_l2 is 0. Rows that lack a value of the leaf's columns take no part. No hessian: all are 1.
// Throws Error(invalid_argument) where the table does not keep the values of its numeric columns.
LinearLeaves fit_linear_leaves(const BinnedDataset& table, const TreeArrays& tree,
                               const LeafRows& leaves, std::span<const double> gradient,
                               std::span<const double> hessian, double l2, double slope_l2,
                               const Context& context);

// Times the learning rate.
void scale(LinearLeaves& leaves, double factor);

}  // namespace arboleda
