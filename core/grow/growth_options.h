// How far a tree grows, and by which features it may split.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.h"
#include "grow/frontier.h"

namespace arboleda {

struct GrowthOptions {
  GrowthPolicy policy = GrowthPolicy::depth_first;
  std::int32_t max_depth = std::numeric_limits<std::int32_t>::max();
  std::int64_t max_leaf_nodes = std::numeric_limits<std::int64_t>::max();
  std::uint64_t min_samples_split = 2;
  std::uint64_t min_samples_leaf = 1;
  double min_weight_fraction_leaf = 0.0;
  double min_impurity_decrease = 0.0;  // weighted by the node's share of all rows
  FeatureIndex max_features = -1;      // features drawn at each node; -1: all
  bool random_splits = false;          // one split a feature, drawn at random, instead of the best
  std::uint32_t tree = 0;              // number of the tree in its ensemble, for randomness
  std::vector<FeatureIndex> features;  // candidates for a split, ascending; empty: all
  // Of each column: 1 the prediction never falls as its values rise, -1 it never rises, 0 free. Empty:
  // all free. Of two classes the prediction is the share of the second; of more, there is no order.
  std::vector<std::int8_t> monotonic;

  // Over shards: nodes of at most so many rows are sent to one shard, which grows what is below them. Of fewer
  // rows, the cells of all columns would be more than the rows; of more, a thread would take long.
  std::uint64_t sent_rows = std::uint64_t{1} << 15;

  bool looks_at_all(FeatureIndex n_features) const {
    return max_features < 0 || max_features >= n_features;
  }
};

}  // namespace arboleda
