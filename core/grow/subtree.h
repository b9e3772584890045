// A subtree that is grown apart from the tree above it, where the rows of its root are a table of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/growth_options.h"
#include "split/split.h"
#include "tree/tree.h"

namespace arboleda {

// The place of a subtree in its tree.
struct SubtreeRoot {
  std::int32_t depth = 0;
  std::uint64_t key = 0;               // its path from the root of the tree, for randomness
  Bounds bounds = {};                  // of its predictions
  std::vector<FeatureIndex> features;  // not known to be constant in it
};

// The weights' total, unit and largest are those of the whole table.
struct SubtreeTask {
  const BinnedDataset& table;
  const FixedWeights& weights;
  const GrowthOptions& options;
  const Context& context;
  const SubtreeRoot& root;
};

// The targets of rows that another shard grows a subtree from: n_words a row.
struct SentTargets {
  std::size_t n_words;
  std::function<void(RowIndex row, std::uint64_t* words)> write;
  // The tree from the words of all rows of the table.
  std::function<TreeArrays(const SubtreeTask&, std::span<const std::uint64_t>)> grow;
};

}  // namespace arboleda
