// Many trees, each on a bag of the rows and with random choices of its own, that vote: bagging (Breiman
// 1996), random forests (Breiman 2001), extremely randomised trees (Geurts, Ernst & Wehenkel 2006),
// random subspaces (Ho 1998) and class switching (Martinez-Munoz & Suarez 2005) are one loop.
//
//   for every tree t, several at the same time:
//     draw its bag; its columns, if not all; its labels, if some are switched        (bags.h)
//     grow it: a row counts as often as it was drawn                                 (grow/grower.h)
//     store it compactly                                                             (tree/compact_tree.h)
//
// Tree t is a function of (table, target, weights, options, seed, t): neither the number of threads nor
// the number of trees changes it, and a forest is continued by growing the trees from first_tree on.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bagging/bags.h"
#include "base/context.h"
#include "data/binned_dataset.h"
#include "learn/cart.h"
#include "tree/forest.h"

namespace arboleda {

struct ForestOptions {
  std::uint32_t n_trees = 100;
  std::uint32_t first_tree = 0;  // number of the first of them
  GrowthOptions growth;          // but for `tree` and `features`
  Bag bag;
  ColumnDraw columns;
  Switching switching;           // of labels, anew for each tree; one output only
  bool balance_classes = false;  // weigh the classes of each bag so that they count the same
  bool keep_rows = false;        // which rows are in which leaf
};

// Called on the caller's thread with the number of finished trees, after each tree that this thread grew
// and at the end. Returning true starts no more trees.
using ForestProgress = std::function<bool(std::size_t n_done)>;

// labels: n_rows of output 0, then of output 1, ...; n_classes: of each output. weights: one a row, or
// empty for "all 1"; rows of weight 0 take no part. progress may be empty; when it stops the loop, the
// forest has the trees that were started, the first ones: at least one.
Forest fit_classification_forest(const BinnedDataset& table, std::span<const std::uint32_t> labels,
                                 std::span<const std::size_t> n_classes,
                                 std::span<const double> weights, ClassMeasure measure,
                                 const ForestOptions& options, const ForestProgress& progress,
                                 const Context& context);

// targets: in the same order.
Forest fit_regression_forest(const BinnedDataset& table, std::span<const double> targets,
                             std::size_t n_outputs, std::span<const double> weights,
                             RegressionMeasure measure, const ForestOptions& options,
                             const ForestProgress& progress, const Context& context);

}  // namespace arboleda
