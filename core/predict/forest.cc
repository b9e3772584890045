#include "predict/forest.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

// A tree is read from memory once for every block: blocks are as large as the second cache allows.
constexpr std::size_t kBlockBytes = std::size_t{1} << 18;
constexpr std::size_t kMostRows = 1024;

// Few rows make small blocks, so that there is one for every thread.
std::size_t rows_of_block(std::size_t n_rows, std::size_t n_columns, int n_threads) {
  const std::size_t n_threads_or_1 = static_cast<std::size_t>(std::max(1, n_threads));
  const std::size_t share = (n_rows + n_threads_or_1 - 1) / n_threads_or_1;
  const std::size_t most = std::clamp(kBlockBytes / (8 * n_columns), kLanes, kMostRows);
  return std::clamp((share + kLanes - 1) / kLanes * kLanes, kLanes, most);
}

// A block holds the rows [begin, end) of a table, row by row. That of a sparse table is all 0 before and
// after: only what is stored is written.
void fill(const TableView& table, std::size_t begin, std::size_t end, std::vector<double>& block) {
  const std::size_t width = table.n_columns();
  for (std::size_t j = 0; j < width; ++j) {
    const ColumnView& column = table.columns[j];
    for (std::size_t row = begin; row < end; ++row) block[(row - begin) * width + j] = column[row];
  }
}

void clear(const TableView&, std::size_t, std::size_t, std::vector<double>&) {}

template <class Visit>
void for_each_stored(const SparseRows& table, std::size_t begin, std::size_t end,
                     const Visit& visit) {
  for (std::size_t row = begin; row < end; ++row) {
    for (auto e = static_cast<std::size_t>(table.lines.start[row]);
         e < static_cast<std::size_t>(table.lines.start[row + 1]); ++e) {
      visit((row - begin) * table.n_columns() + static_cast<std::size_t>(table.lines.index[e]), e);
    }
  }
}

void fill(const SparseRows& table, std::size_t begin, std::size_t end, std::vector<double>& block) {
  for_each_stored(table, begin, end,
                  [&](std::size_t at, std::size_t e) { block[at] = table.lines.data[e]; });
}

void clear(const SparseRows& table, std::size_t begin, std::size_t end,
           std::vector<double>& block) {
  for_each_stored(table, begin, end, [&](std::size_t at, std::size_t) { block[at] = 0.0; });
}

struct Worker {
  std::vector<double> block;
  std::vector<std::uint32_t> leaves;
};

// Calls visit(tree, first row, leaves of the rows from there on) for every block of rows and, within a
// block, for the trees [first, last) in their order.
template <class Table, class Visit>
void for_each_leaf(const Forest& forest, std::size_t first, std::size_t last, const Table& table,
                   const Context& context, const Visit& visit) {
  require(table.n_columns() == static_cast<std::size_t>(forest.n_features),
          "the table has not the number of columns that the forest was fitted on");
  const std::size_t width = std::max<std::size_t>(1, table.n_columns());
  const std::size_t size = rows_of_block(table.n_rows, width, context.n_threads());
  std::vector<Worker> workers(static_cast<std::size_t>(std::max(1, context.n_threads())));
  parallel_for(context.n_threads(), (table.n_rows + size - 1) / size,
               [&](std::size_t task, int worker) {
                 auto& [block, leaves] = workers[static_cast<std::size_t>(worker)];
                 block.resize(size * width);
                 leaves.resize(size);
                 const std::size_t begin = task * size;
                 const std::size_t end = std::min(table.n_rows, begin + size);
                 fill(table, begin, end, block);
                 for (std::size_t t = first; t < last; ++t) {
                   context.check();
                   find_leaves(
                       forest.trees[t], end - begin, leaves.data(),
                       [&](std::size_t i) { return block.data() + i * width; },
                       [](const double* row, std::size_t column) { return row[column]; });
                   visit(t, begin, std::span(leaves).first(end - begin));
                 }
                 clear(table, begin, end, block);
               });
}

}  // namespace

template <class Table>
void add_votes(const Forest& forest, std::size_t first, std::size_t last, const Ballot& ballot,
               const Table& table, const Context& context, std::span<double> sums) {
  const std::size_t k = ballot.n_outputs();
  require(first <= last && last <= forest.trees.size(),
          "the forest has not the trees that it is asked for");
  require(sums.size() == table.n_rows * k, "the sums have not the shape of the votes");
  for_each_leaf(forest, first, last, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  double* sum = sums.data() + begin * k;
                  for (const std::uint32_t leaf : leaves) {
                    ballot.add(forest.trees[t], leaf, sum);
                    sum += k;
                  }
                });
}

template <class Table>
std::vector<double> mean_votes(const Forest& forest, const Ballot& ballot, const Table& table,
                               const Context& context) {
  require(!forest.trees.empty(), "a forest without trees has no answer");
  std::vector<double> votes(table.n_rows * ballot.n_outputs(), 0.0);
  add_votes(forest, 0, forest.trees.size(), ballot, table, context, votes);
  for (double& vote : votes) vote /= static_cast<double>(forest.trees.size());
  return votes;
}

template <class Table>
std::vector<NodeIndex> apply_forest(const Forest& forest, const Table& table,
                                    const Context& context) {
  const std::size_t n_trees = forest.trees.size();
  std::vector<NodeIndex> out(table.n_rows * n_trees);
  for_each_leaf(forest, 0, n_trees, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  NodeIndex* leaf_out = out.data() + begin * n_trees + t;
                  for (const std::uint32_t leaf : leaves) {
                    *leaf_out = static_cast<NodeIndex>(leaf);
                    leaf_out += n_trees;
                  }
                });
  return out;
}

template void add_votes(const Forest&, std::size_t, std::size_t, const Ballot&, const TableView&,
                        const Context&, std::span<double>);
template void add_votes(const Forest&, std::size_t, std::size_t, const Ballot&, const SparseRows&,
                        const Context&, std::span<double>);
template std::vector<double> mean_votes(const Forest&, const Ballot&, const TableView&,
                                        const Context&);
template std::vector<double> mean_votes(const Forest&, const Ballot&, const SparseRows&,
                                        const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const TableView&, const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const SparseRows&, const Context&);

}  // namespace arboleda
