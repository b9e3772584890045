// What a thread holds while it grows: the nodes that wait, and its scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "grow/row_partition.h"
#include "split/column_sets.h"
#include "split/feature_draw.h"
#include "split/feature_search.h"
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

template <class Criterion>
struct GrowthWorkspace {
  // allowed: the features that a node may be split on.
  GrowthWorkspace(const BinnedDataset& table, const RowLayouts& layouts, const Criterion& criterion,
                  const SearchOptions& options, const std::vector<FeatureIndex>& allowed)
      : search(table, layouts, criterion, options),
        total(criterion.width()),
        part(criterion.width()),
        sets(table.columns.size()),
        draw(allowed) {
    for (const FeatureIndex feature : allowed) {
      if (!search.binary_features().scores(feature) && !search.numeric_features().takes(feature)) {
        unknown.push_back(feature);
      }
    }
  }

  FeatureSearch<Criterion> search;
  typename Criterion::Local local, part_local;
  std::vector<typename Criterion::Slot> total, part;
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
