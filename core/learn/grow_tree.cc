#include "learn/grow_tree.h"

#include <cstddef>

#include "base/error.h"
#include "grow/grower.h"
#include "grow/sharded_grower.h"

namespace arboleda {

TreeArrays grow_tree(const TreeTask& task, const TreeCriterion& criterion) {
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
  if (task.context.shards() != nullptr) {
    require(criterion.make_shared != nullptr && task.targets != nullptr,
            "a tree by this criterion needs all rows in one place");
    return ShardedGrower(task.table, task.weights, criterion, *task.targets, task.options,
                         task.context)
        .grow(rows);
  }
  require(!rows.empty(), "at least one row of positive weight is needed");
  RowLayouts own;
  if (criterion.facts.sums_binary_features && task.layouts == nullptr) {
    own.binary_features = BinaryFeatureTable(task.table, task.options.max_features);
  }
  const RowLayouts& layouts = task.layouts != nullptr ? *task.layouts : own;
  GrownTree once;
  GrownTree& nodes = task.scratch != nullptr ? *task.scratch : once;
  return Grower(task.table, layouts, criterion, task.options, task.context)
      .grow(rows, nodes, task.leaf_rows, task.place);
}

}  // namespace arboleda
