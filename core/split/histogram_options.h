// How one tree of a boosted ensemble is grown from gradients and hessians.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.h"

namespace arboleda {

enum class BoostedGrowth {
  leaf_wise,   // the largest gain first
  level_wise,  // level by level
  symmetric,   // level by level, with one split for all nodes of a level (oblivious trees)
};

// A split that every tree begins with, by the edge between bins next to the threshold.
struct ForcedSplit {
  FeatureIndex feature = 0;
  double threshold = 0.0;
  std::int32_t left = -1, right = -1;  // numbers of the splits of its sides, or -1
};

struct HistogramOptions {
  BoostedGrowth growth = BoostedGrowth::leaf_wise;
  std::int64_t max_leaf_nodes = std::numeric_limits<std::int64_t>::max();
  std::int32_t max_depth = std::numeric_limits<std::int32_t>::max();
  std::uint64_t min_samples_leaf = 1;
  double min_child_weight = 0.0;  // sum of hessians on each side
  double l1 = 0.0;                // alpha: added to a leaf's objective as alpha |value|
  double l2 = 0.0;                // lambda: as lambda/2 value^2
  double min_gain = 0.0;          // gamma
  double max_delta_step = 0.0;    // largest |value| of a leaf; 0: no limit
  double column_share_tree = 1.0, column_share_level = 1.0, column_share_node = 1.0;
  bool random_thresholds = false;      // one threshold a feature, drawn at random
  double category_smoothing = 10.0;    // added to a category's hessian where categories are ordered
  double category_l2 = 3.0;            // added to l2 in splits by category, for each beyond two
  std::vector<std::int8_t> monotonic;  // -1, 0, 1 for each feature, or empty
  std::vector<std::vector<FeatureIndex>> interactions;  // sets of features that may meet, or empty
  // Of each feature, at most 1: features are drawn with probabilities in proportion. Empty: all alike.
  std::vector<double> feature_weights;
  std::vector<ForcedSplit> forced_splits;  // the first is that of the root; not of symmetric trees
};

}  // namespace arboleda
