#include "predict/leaf_numbers.h"

#include <algorithm>
#include <cstddef>

#include "base/thread_pool.h"
#include "data/column.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

// Rows whose leaves are found before they are sorted by tree.
constexpr std::size_t kNumberedBlockRows = 4096;

}  // namespace

template <class Table>
std::vector<std::vector<std::uint32_t>> leaf_numbers(const Forest& forest, const Table& table,
                                                     const Context& context) {
  const std::size_t n_trees = forest.trees.size();
  std::vector<std::vector<std::uint32_t>> leaf_of(n_trees);
  for (auto& leaves : leaf_of) leaves.resize(table.n_rows);
  for (std::size_t begin = 0; begin < table.n_rows; begin += kNumberedBlockRows) {
    const std::size_t end = std::min(table.n_rows, begin + kNumberedBlockRows);
    const std::vector<NodeIndex> nodes =
        apply_forest(forest, rows_between(table, begin, end), context);
    parallel_for(context.n_threads(), n_trees, [&](std::size_t tree, int) {
      for (std::size_t row = begin; row < end; ++row) {
        const auto node = static_cast<std::size_t>(nodes[(row - begin) * n_trees + tree]);
        leaf_of[tree][row] = static_cast<std::uint32_t>(forest.trees[tree].nodes[node].leaf());
      }
    });
  }
  return leaf_of;
}

template std::vector<std::vector<std::uint32_t>> leaf_numbers(const Forest&, const TableView&,
                                                              const Context&);
template std::vector<std::vector<std::uint32_t>> leaf_numbers(const Forest&, const SparseRows&,
                                                              const Context&);

}  // namespace arboleda
