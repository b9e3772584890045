// The step all fits of a tree share: the grower over the rows that count.
#pragma once

#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/grower.h"
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
};

template <class Criterion>
TreeArrays grow_tree(const TreeTask& task, const Criterion& criterion) {
  std::vector<RowIndex> rows(task.table.n_rows);
  std::size_t n_rows = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[n_rows] = static_cast<RowIndex>(i);
    n_rows += !task.weights.drops(i);
  }
  rows.resize(n_rows);
  const auto& monotonic = task.options.monotonic;
  require(monotonic.empty() || monotonic.size() == task.table.columns.size(),
          "one direction a column is needed");
  require(!rows.empty(), "at least one row of positive weight is needed");
  RowLayouts own;
  if (Criterion::kSumsBinaryFeatures && task.layouts == nullptr) {
    own.binary_features = BinaryFeatureTable(task.table, task.options.max_features);
  }
  const RowLayouts& layouts = task.layouts != nullptr ? *task.layouts : own;
  GrownTree once;
  GrownTree& nodes = task.scratch != nullptr ? *task.scratch : once;
  return Grower<Criterion>(task.table, layouts, criterion, task.options, task.context)
      .grow(rows, nodes, task.leaf_rows);
}

}  // namespace arboleda
