// The step all fits of a tree share: the grower over the rows that count.
#pragma once

#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/grown_tree.h"
#include "grow/growth_options.h"
#include "grow/subtree.h"
#include "layout/row_layouts.h"
#include "tree/tree.h"

namespace arboleda {

// Sums of class weights stay below 2^62.
inline constexpr int kClassWeightBits = 62;

// A tree that is to be grown, whatever its target. All must outlive the growing.
struct TreeTask {
  const BinnedDataset& table;
  const FixedWeights& weights;
  const GrowthOptions& options;
  const Context& context;
  std::vector<RowIndex>* leaf_rows = nullptr;  // OUT, if wanted: the rows that count, leaf by leaf
  const RowLayouts* layouts = nullptr;         // of the table, if many trees share them
  GrownTree* scratch = nullptr;                // of the thread, if it grows many trees
  const SubtreeRoot* place = nullptr;          // in its tree, of a subtree that is grown apart
  const SentTargets* targets = nullptr;        // of the rows, where the context has shards
};

struct TreeCriterion;

TreeArrays grow_tree(const TreeTask& task, const TreeCriterion& criterion);

}  // namespace arboleda
