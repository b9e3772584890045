// Trees that vote: what random forests, extra trees, bagged trees and random subspaces come out as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/compact_tree.h"
#include "tree/tree.h"

namespace arboleda {

struct Forest {
  FeatureIndex n_features = 0;
  std::int32_t n_outputs = 0;  // of a leaf: classes, or 1 for regression; of several targets, all
  Measure measure = Measure::gini;
  std::vector<CompactTree> trees = {};
  std::size_t n_training_rows =
      0;  // the rows that the trees keep are below it; 0 where none keeps any

  TreeShape shape() const { return {n_features, n_outputs, measure}; }
};

// Throws Error(invalid_argument) unless every tree is one of this shape, and either all keep their
// training rows or none does.
void check_forest(const Forest& forest);

// Trees that were made one by one, of the same features and outputs; they keep no training rows. Throws
// Error(invalid_argument) where they are not a forest of this measure.
Forest forest_of(std::span<const Tree* const> trees, Measure measure);

// Whether every category that a tree lists is a level of the column that it tests. n_levels: of each
// column, 0 for one of numbers.
bool categories_are_below(const Forest& forest, std::span<const std::int64_t> n_levels);

// The tree by itself, with what is known of its inner nodes.
Tree tree_of(const Forest& forest, std::size_t tree);

// The trees of `forest`, then those of `more`.
Forest extended(const Forest& forest, const Forest& more);

// The first trees alone.
Forest truncated(const Forest& forest, std::size_t n_trees);

// The same trees with other values in their leaves: n_outputs for each, leaf after leaf, tree after tree.
// For trees that keep values of leaves alone.
Forest with_leaf_values(const Forest& forest, std::span<const double> values);

// How much each feature did, as shares of the whole: the mean over trees that have a split of the
// decrease of impurity by each feature, each tree's as shares; zeros where no tree has a split.
// Breiman (2001), "Random forests", Machine Learning 45, section 10; mean of shares: scikit-learn's.
std::vector<double> impurity_importances(const Forest& forest);

inline bool keeps_rows(const Forest& forest) {
  return !forest.trees.empty() && !forest.trees[0].row.empty();
}

// What the trees take in memory.
std::size_t n_bytes(const Forest& forest);

}  // namespace arboleda
