#include "predict/forest.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/row_block.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

// A tree is read anew for every block, here and there, while rows follow each other: blocks are as large
// as the caches can bear.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMostRows = 8192;

// Every thread gets as many blocks as the others.
std::size_t rows_of_block(std::size_t n_rows, std::size_t n_columns, int n_threads) {
  const auto ceil_of = [](std::size_t a, std::size_t b) { return (a + b - 1) / b; };
  const std::size_t most = std::clamp(kBlockBytes / (8 * n_columns), kLanes, kMostRows);
  const std::size_t share =
      ceil_of(std::max<std::size_t>(1, n_rows), static_cast<std::size_t>(std::max(1, n_threads)));
  return ceil_of(ceil_of(share, ceil_of(share, most)), kLanes) * kLanes;
}

void walk_block(const CompactTree& tree, const RowBlock& block, std::size_t width,
                std::span<std::uint32_t> leaves) {
  const auto row_of = [&](std::size_t i) { return block.numbers.data() + i * width; };
  const auto value = [](const double* row, std::size_t column) { return row[column]; };
  if (block.any_missing) {
    find_leaves<true>(tree, leaves.size(), leaves.data(), row_of, value);
  } else {
    find_leaves<false>(tree, leaves.size(), leaves.data(), row_of, value);
  }
}

struct Worker {
  RowBlock block;
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
                 block.numbers.resize(size * width);
                 leaves.resize(size);
                 const std::size_t begin = task * size;
                 const std::size_t end = std::min(table.n_rows, begin + size);
                 const auto leaves_here = std::span(leaves).first(end - begin);
                 fill(table, begin, end, block);
                 for (std::size_t t = first; t < last; ++t) {
                   context.check();
                   walk_block(forest.trees[t], block, width, leaves_here);
                   visit(t, begin, leaves_here);
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
std::vector<double> staged_mean_votes(const Forest& forest, std::span<const std::size_t> numbers,
                                      const Ballot& ballot, const Table& table,
                                      const Context& context) {
  std::vector<double> sums(table.n_rows * ballot.n_outputs(), 0.0);
  std::vector<double> votes;
  votes.reserve(numbers.size() * sums.size());
  std::size_t before = 0;
  for (const std::size_t n : numbers) {
    require(n > 0, "a forest without trees has no answer");
    add_votes(forest, before, n, ballot, table, context, sums);
    for (const double sum : sums) votes.push_back(sum / static_cast<double>(n));
    before = n;
  }
  return votes;
}

template <class Table>
std::vector<double> member_scores(const Forest& forest, const MemberVotes& votes,
                                  const Table& table, const Context& context) {
  const std::size_t k = votes.n_outputs();
  std::vector<double> scores(table.n_rows * k, 0.0);
  for_each_leaf(forest, 0, forest.trees.size(), table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  const CompactTree& tree = forest.trees[t];
                  double* sum = scores.data() + begin * k;
                  for (const std::uint32_t leaf : leaves) {
                    votes.add(t, tree.nodes[leaf].leaf(), sum);
                    sum += k;
                  }
                });
  return scores;
}

template <class Table>
std::vector<double> staged_member_scores(const Forest& forest, const MemberVotes& votes,
                                         std::size_t first, std::size_t last,
                                         std::span<const double> before, const Table& table,
                                         const Context& context) {
  const std::size_t k = votes.n_outputs();
  const std::size_t size = table.n_rows * k;
  const std::size_t n_trees = votes.trees_a_member();
  require(first <= last && last * n_trees <= forest.trees.size(),
          "the forest has not the trees that it is asked for");
  require(before.size() == size, "the sums have not the shape of the votes");
  std::vector<double> scores((last - first) * size);
  for_each_leaf(forest, first * n_trees, last * n_trees, table, context,
                [&](std::size_t t, std::size_t begin, std::span<const std::uint32_t> leaves) {
                  const CompactTree& tree = forest.trees[t];
                  double* sum = scores.data() + (t / n_trees - first) * size + begin * k;
                  if (t % n_trees == 0) {  // the first tree of its member
                    const double* old = t / n_trees > first ? sum - size : &before[begin * k];
                    std::copy_n(old, leaves.size() * k, sum);
                  }
                  for (const std::uint32_t leaf : leaves) {
                    votes.add(t, tree.nodes[leaf].leaf(), sum);
                    sum += k;
                  }
                });
  return scores;
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
template std::vector<double> staged_mean_votes(const Forest&, std::span<const std::size_t>,
                                               const Ballot&, const TableView&, const Context&);
template std::vector<double> staged_mean_votes(const Forest&, std::span<const std::size_t>,
                                               const Ballot&, const SparseRows&, const Context&);
template std::vector<double> mean_votes(const Forest&, const Ballot&, const SparseRows&,
                                        const Context&);
template std::vector<double> member_scores(const Forest&, const MemberVotes&, const TableView&,
                                           const Context&);
template std::vector<double> member_scores(const Forest&, const MemberVotes&, const SparseRows&,
                                           const Context&);
template std::vector<double> staged_member_scores(const Forest&, const MemberVotes&, std::size_t,
                                                  std::size_t, std::span<const double>,
                                                  const TableView&, const Context&);
template std::vector<double> staged_member_scores(const Forest&, const MemberVotes&, std::size_t,
                                                  std::size_t, std::span<const double>,
                                                  const SparseRows&, const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const TableView&, const Context&);
template std::vector<NodeIndex> apply_forest(const Forest&, const SparseRows&, const Context&);

}  // namespace arboleda
