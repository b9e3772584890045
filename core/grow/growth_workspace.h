// What a thread holds while it grows: the nodes that wait, and its scratch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "grow/column_sets.h"
#include "grow/feature_draw.h"
#include "grow/feature_search.h"
#include "grow/partition.h"
#include "grow/split.h"

namespace arboleda {

// A node that is to be opened.
struct Bud {
  std::size_t begin, end;  // its rows
  std::int32_t depth;
  std::uint64_t key;        // its path from the root, for randomness
  ColumnSets::Id features;  // not known to be constant here
  Bounds bounds = {};       // of its predictions
};

// A node that was opened and can be split.
struct OpenedNode {
  NodeIndex id;
  Bud left, right;
  double improvement;
};

template <class Criterion>
struct GrowthWorkspace {
  // asked: the features that a node may be split on.
  GrowthWorkspace(const CodedTable& table, const FlagTable& flags, const Criterion& criterion,
                  const SearchOptions& options, const std::vector<FeatureIndex>& asked)
      : search(table, flags, criterion, options),
        total(criterion.width()),
        part(criterion.width()),
        sets(table.columns.size()),
        draw(asked) {}

  FeatureSearch<Criterion> search;
  typename Criterion::Local local, part_local;
  std::vector<typename Criterion::Slot> total, part;
  PartitionScratch partition;
  ColumnSets sets;  // of the nodes that wait
  FeatureDraw draw;
  std::vector<FeatureIndex> features;
  std::vector<std::uint8_t> varies;
  Split best;
};

}  // namespace arboleda
