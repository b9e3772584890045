#include "predict/forest_leaves.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/row_block.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

std::size_t ceil_of(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

template <class Table>
void for_each_coded_leaf(const Forest& forest, TreeRange range, LeavesAs leaves_as,
                         const Table& table, const Context& context, const VisitLeaves& visit) {
  const CodedTrees trees(range.of(forest));
  std::vector<std::vector<std::uint32_t>> place_of(range.size());  // by the numbers of leaves
  for (std::size_t t = 0; t < range.size(); ++t) {
    for (const NodeIndex leaf : trees.leaves(t)) {
      const auto node = static_cast<std::size_t>(leaf);
      const std::size_t number = forest.trees[range.first + t].nodes[node].leaf();
      place_of[t].push_back(
          static_cast<std::uint32_t>(leaves_as == LeavesAs::nodes ? node : number));
    }
  }
  for_each_coded_block(
      trees, table, context, [&](CodedBlock& block, std::size_t begin, std::size_t n, int) {
        std::array<std::uint32_t, kTreeRows> places;
        for (std::size_t t = 0; t < range.size(); ++t) {
          const std::uint8_t* number = trees.find_leaves(t, block);
          for (std::size_t i = 0; i < n; ++i) places[i] = place_of[t][number[i]];
          visit(range.first + t, begin, std::span<const std::uint32_t>(places).first(n));
        }
      });
}

// Blocks as large as the caches can bear: a tree is read anew for every block, here and there, while rows
// follow each other.
struct BlockSize {
  std::size_t most_bytes, most_rows;

  // Rows of a block, such that every thread gets as many blocks as the others.
  std::size_t rows(std::size_t n_rows, std::size_t bytes_a_row, int n_threads) const;
};

std::size_t BlockSize::rows(std::size_t n_rows, std::size_t bytes_a_row, int n_threads) const {
  const std::size_t most = std::clamp(most_bytes / bytes_a_row, kLanes, most_rows);
  const std::size_t share =
      ceil_of(std::max<std::size_t>(1, n_rows), static_cast<std::size_t>(std::max(1, n_threads)));
  return ceil_of(ceil_of(share, ceil_of(share, most)), kLanes) * kLanes;
}

// Calls find(t, first row, block, leaves, worker) and visit(t, first row, leaves) for every block of rows
// and, within a block, for the trees in their order; `find` writes the leaves of the rows of the block to
// `leaves`.
template <class Number, class Table, class Find>
void for_each_block_leaf(TreeRange range, BlockSize most, const Table& table,
                         const Context& context, const Find& find, const VisitLeaves& visit) {
  const std::size_t width = std::max<std::size_t>(1, table.n_columns());
  const std::size_t size = most.rows(table.n_rows, sizeof(Number) * width, context.n_threads());
  struct Worker {
    RowBlock<Number> block;
    std::vector<std::uint32_t> leaves;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), (table.n_rows + size - 1) / size,
               [&](std::size_t task, int worker) {
                 auto& [block, leaves] = workers[static_cast<std::size_t>(worker)];
                 block.numbers.resize(size * width);
                 leaves.resize(size);
                 const std::size_t begin = task * size;
                 const std::size_t end = std::min(table.n_rows, begin + size);
                 const auto here = std::span(leaves).first(end - begin);
                 fill(table, begin, end, block);
                 for (std::size_t t = range.first; t < range.last; ++t) {
                   context.check();
                   find(t, begin, block, here, worker);
                   visit(t, begin, std::span<const std::uint32_t>(here));
                 }
                 clear(table, begin, end, block);
               });
}

// Leaves that are given as nodes, as the caller requested.
void mark_leaves(const CompactTree& tree, LeavesAs leaves_as, std::span<std::uint32_t> leaves) {
  if (leaves_as == LeavesAs::nodes) return;
  for (std::uint32_t& leaf : leaves) leaf = static_cast<std::uint32_t>(tree.nodes[leaf].leaf());
}

template <class Table>
void for_each_narrow_leaf(const Forest& forest, TreeRange range, LeavesAs leaves_as,
                          const Table& table, const Context& context, const VisitLeaves& visit) {
  std::vector<std::vector<NarrowNode>> trees(range.size());
  parallel_for(context.n_threads(), trees.size(),
               [&](std::size_t t, int) { trees[t] = narrow(forest.trees[range.first + t]); });
  struct Worker {
    std::vector<Walker> walkers;
    std::vector<std::uint32_t> undecided, decided;
  };
  std::vector<Worker> workers(static_cast<std::size_t>(std::max(1, context.n_threads())));
  const std::size_t width = std::max<std::size_t>(1, table.n_columns());
  for_each_block_leaf<float>(
      range, {std::size_t{1} << 23, std::size_t{1} << 16}, table, context,
      [&](std::size_t t, std::size_t begin, const RowBlock<float>& block,
          std::span<std::uint32_t> leaves, int number) {
        Worker& worker = workers[static_cast<std::size_t>(number)];
        std::vector<std::uint32_t>& undecided = worker.undecided;
        std::vector<std::uint32_t>& decided = worker.decided;
        walk(trees[t - range.first], leaves_as, block, width, worker.walkers, leaves, undecided);
        decided.resize(undecided.size());
        find_leaves<true>(
            forest.trees[t], decided.size(), decided.data(),
            [&](std::size_t i) { return begin + undecided[i]; },
            [&](std::size_t row, std::size_t column) { return table.at(row, column); });
        mark_leaves(forest.trees[t], leaves_as, decided);
        for (std::size_t i = 0; i < decided.size(); ++i) leaves[undecided[i]] = decided[i];
      },
      visit);
}

template <class Table>
void for_each_wide_leaf(const Forest& forest, TreeRange range, LeavesAs leaves_as,
                        const Table& table, const Context& context, const VisitLeaves& visit) {
  const std::size_t width = std::max<std::size_t>(1, table.n_columns());
  for_each_block_leaf<double>(
      range, {std::size_t{1} << 20, std::size_t{1} << 13}, table, context,
      [&](std::size_t t, std::size_t, const RowBlock<double>& block,
          std::span<std::uint32_t> leaves, int) {
        const CompactTree& tree = forest.trees[t];
        const auto row_of = [&](std::size_t i) { return block.numbers.data() + i * width; };
        const auto value = [](const double* row, std::size_t column) { return row[column]; };
        if (block.any_missing) {
          find_leaves<true>(tree, leaves.size(), leaves.data(), row_of, value);
        } else {
          find_leaves<false>(tree, leaves.size(), leaves.data(), row_of, value);
        }
        mark_leaves(tree, leaves_as, leaves);
      },
      visit);
}

}  // namespace

WalkBy walk_for(std::span<const CompactTree> trees, FeatureIndex n_features, std::size_t n_rows) {
  std::size_t most_nodes = 0;
  bool narrow = true;
  for (const CompactTree& tree : trees) {
    most_nodes = std::max(most_nodes, tree.n_nodes());
    narrow = narrow && can_be_narrow(tree, n_features);
  }
  // To lay out a node takes as long as the rows gain by so many of them.
  constexpr std::size_t kCodedGain = 16, kNarrowGain = 4;
  const std::size_t n_columns = static_cast<std::size_t>(n_features);
  if (most_nodes < 2 * CodedTrees::kMostLeaves && n_columns < 2 * trees.size() &&
      n_rows >= std::max(kCodedGain * most_nodes, kTreeRows) && CodedTrees::can_hold(trees)) {
    return WalkBy::codes;
  }
  const bool many = n_rows >= most_nodes / kNarrowGain && n_rows >= kTreeRows;
  return narrow && many ? WalkBy::narrow_nodes : WalkBy::wide_nodes;
}

template <class Table>
void for_each_leaf(const Forest& forest, TreeRange range, LeavesAs leaves_as, const Table& table,
                   const Context& context, const VisitLeaves& visit) {
  require(table.n_columns() == static_cast<std::size_t>(forest.n_features),
          "the number of columns differs from the one that the forest was fitted on");
  switch (walk_for(range.of(forest), forest.n_features, table.n_rows)) {
    case WalkBy::codes:
      for_each_coded_leaf(forest, range, leaves_as, table, context, visit);
      break;
    case WalkBy::narrow_nodes:
      for_each_narrow_leaf(forest, range, leaves_as, table, context, visit);
      break;
    case WalkBy::wide_nodes:
      for_each_wide_leaf(forest, range, leaves_as, table, context, visit);
      break;
  }
}

template void for_each_leaf(const Forest&, TreeRange, LeavesAs, const TableView&, const Context&,
                            const VisitLeaves&);
template void for_each_leaf(const Forest&, TreeRange, LeavesAs, const SparseRows&, const Context&,
                            const VisitLeaves&);

}  // namespace arboleda
