// What a thread holds while it grows: the nodes that wait, and its scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/types.h"
#include "grow/row_partition.h"
#include "grow/splitter.h"
#include "split/column_sets.h"
#include "split/feature_draw.h"
#include "split/split.h"

namespace arboleda {

// A node that is to be opened.
struct PendingNode {
  std::size_t begin, end;  // its rows
  std::int32_t depth;
  std::uint64_t key;        // its path from the root, for randomness
  ColumnSets::Id features;  // not known to be constant here
  Bounds bounds = {};       // of its predictions
};

// A node that was opened and can be split.
struct OpenedNode {
  NodeIndex id = -1;
  PendingNode left = {}, right = {};
  double improvement = 0.0;
};

// A pending node, and the node whose right child it will be, or -1.
struct WaitingNode {
  PendingNode pending;
  NodeIndex right_of;
};

struct GrowthWorkspace {
  // allowed: the features that a node may be split on.
  GrowthWorkspace(std::unique_ptr<Splitter> made, std::size_t n_columns,
                  const std::vector<FeatureIndex>& allowed)
      : splitter(std::move(made)),
        binary_features(splitter->binary_features()),
        numeric_features(splitter->numeric_features()),
        sets(n_columns),
        draw(allowed) {
    for (const FeatureIndex feature : allowed) {
      if (!binary_features.scores(feature) && !numeric_features.takes(feature)) {
        unknown.push_back(feature);
      }
    }
  }

  std::unique_ptr<Splitter> splitter;
  BinaryFeatureSearch& binary_features;    // of the splitter,
  NumericFeatureSearch& numeric_features;  // and of it too
  PartitionScratch partition;
  std::vector<WaitingNode> waiting;  // depth first: the next one last
  ColumnSets sets;                   // of the nodes that wait
  FeatureDraw draw;
  std::vector<FeatureIndex> features;               // that are to be searched one by one,
  std::vector<FeatureIndex> drawn_binary_features;  // and all at once
  // Features that no pass over the rows of a node tests for being constant, and those that may vary.
  std::vector<FeatureIndex> unknown, candidates;
  std::vector<std::uint8_t> varies;
  Split best;
  std::size_t unchecked = 0;  // rows of nodes since the stop flag was polled
};

}  // namespace arboleda
