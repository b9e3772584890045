// The rows of a table block by block, coded for trees (coded_trees.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/context.h"
#include "base/thread_pool.h"
#include "predict/coded_trees.h"

namespace arboleda {

// Rows of one task: few enough for every thread to get its share of a small table.
inline constexpr std::size_t kCodedTaskRows = 2 * kTreeRows;

// Calls body(block, first row, number of rows, worker) for the rows of a table. Table: TableView or
// SparseRows.
template <class Table, class Body>
void for_each_coded_block(const CodedTrees& trees, const Table& table, const Context& context,
                          const Body& body) {
  std::vector<std::optional<CodedBlock>> blocks(
      static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), (table.n_rows + kCodedTaskRows - 1) / kCodedTaskRows,
               [&](std::size_t task, int worker) {
                 auto& block = blocks[static_cast<std::size_t>(worker)];
                 if (!block) block = trees.make_block();
                 const std::size_t end = std::min(table.n_rows, (task + 1) * kCodedTaskRows);
                 for (std::size_t row = task * kCodedTaskRows; row < end; row += kTreeRows) {
                   context.check();
                   const std::size_t n = std::min(kTreeRows, end - row);
                   block->fill(trees.codes(), table, row, row + n);
                   body(*block, row, n, worker);
                 }
               });
}

}  // namespace arboleda
