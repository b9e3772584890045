#include "predict/proximity.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/forest.h"
#include "predict/leaf_numbers.h"

namespace arboleda {

namespace {

// Rows that one thread takes at a time: their leaves in all trees lie in memory together.
constexpr std::size_t kProximityRows = 64;

}  // namespace

template <class Table>
Proximity::Proximity(const Forest& forest, const Table& table, const ForestBags* bags,
                     const Context& context)
    : forest_(forest), n_rows_(table.n_rows), trees_(forest.trees.size()) {
  require(!forest.trees.empty(), "a forest without trees has no proximities");
  if (bags != nullptr) leave_out_bags(*bags, context);
  std::vector<std::vector<std::uint32_t>> leaf_of = leaf_numbers(forest, table, context);
  parallel_for(context.n_threads(), trees_.size(), [&](std::size_t tree, int) {
    context.check();
    trees_[tree] = by_leaf(tree, leaf_of[tree]);
    leaf_of[tree] = {};
  });
}

void Proximity::leave_out_bags(const ForestBags& bags, const Context& context) {
  n_words_ = (trees_.size() + 63) / 64;
  left_out_.assign(n_rows_ * n_words_, 0);
  // A thread has whole words for itself.
  parallel_for(context.n_threads(), n_words_, [&](std::size_t word, int) {
    std::vector<std::uint32_t> counts;
    for (std::size_t tree = 64 * word; tree < std::min(trees_.size(), 64 * (word + 1)); ++tree) {
      context.check();
      bags.draw.counts(bags.first_tree + static_cast<std::uint32_t>(tree), counts);
      require(counts.size() == n_rows_, "proximity out of bag is between the training rows");
      for (std::size_t row = 0; row < n_rows_; ++row) {
        left_out_[row * n_words_ + word] |= std::uint64_t{counts[row] == 0} << (tree % 64);
      }
    }
  });
}

// The rows in the order of their leaves; of trees that saw a row, without it.
Proximity::RowsByLeaf Proximity::by_leaf(std::size_t tree,
                                         const std::vector<std::uint32_t>& leaf_of) const {
  RowsByLeaf leaves;
  leaves.begin.assign(forest_.trees[tree].n_leaves() + 1, 0);
  const auto counts = [&](std::size_t row) {
    return n_words_ == 0 || is_left_out(static_cast<RowIndex>(row), tree);
  };
  for (std::size_t row = 0; row < n_rows_; ++row) {
    if (counts(row)) ++leaves.begin[leaf_of[row] + 1];
  }
  for (std::size_t l = 1; l < leaves.begin.size(); ++l) leaves.begin[l] += leaves.begin[l - 1];
  leaves.row.resize(leaves.begin.back());
  std::vector<std::uint32_t> next(leaves.begin.begin(), leaves.begin.end() - 1);
  for (std::size_t row = 0; row < n_rows_; ++row) {
    if (counts(row)) leaves.row[next[leaf_of[row]]++] = static_cast<RowIndex>(row);
  }
  return leaves;
}

// How many trees count for two rows.
double Proximity::n_trees_between(RowIndex a, RowIndex b) const {
  if (n_words_ == 0) return static_cast<double>(trees_.size());
  int n = 0;
  for (std::size_t word = 0; word < n_words_; ++word) {
    n += std::popcount(left_out_[a * n_words_ + word] & left_out_[b * n_words_ + word]);
  }
  return n;
}

void Proximity::add_row(const NodeIndex* nodes, std::size_t row, RowSums& sums) const {
  for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
    if (n_words_ > 0 && !is_left_out(static_cast<RowIndex>(row), tree)) continue;
    const RowsByLeaf& leaves = trees_[tree];
    const std::size_t leaf =
        forest_.trees[tree].nodes[static_cast<std::size_t>(nodes[tree])].leaf();
    for (std::size_t p = leaves.begin[leaf]; p < leaves.begin[leaf + 1]; ++p) {
      sums.add(leaves.row[p], 1.0);
    }
  }
}

template <class Table>
SparseSums Proximity::of(const Table& rows, std::size_t first_row, const Context& context) const {
  require(n_words_ == 0 || (first_row <= n_rows_ && rows.n_rows <= n_rows_ - first_row),
          "proximity out of bag is between the training rows");
  std::vector<SparseSums> parts((rows.n_rows + kProximityRows - 1) / kProximityRows);
  std::vector<RowSums> sums;
  for (int worker = 0; worker < std::max(1, context.n_threads()); ++worker)
    sums.emplace_back(n_rows_);
  parallel_for(context.n_threads(), parts.size(), [&](std::size_t task, int worker) {
    const std::size_t begin = task * kProximityRows;
    const std::size_t end = std::min(rows.n_rows, begin + kProximityRows);
    const std::vector<NodeIndex> nodes =
        apply_forest(forest_, rows_between(rows, begin, end), context);
    RowSums& of_row = sums[static_cast<std::size_t>(worker)];
    SparseSums& part = parts[task];
    for (std::size_t i = begin; i < end; ++i) {
      context.check();
      add_row(nodes.data() + (i - begin) * trees_.size(), first_row + i, of_row);
      for (const RowIndex other : of_row.rows()) {
        const double n_trees = n_trees_between(static_cast<RowIndex>(first_row + i), other);
        part.index.push_back(static_cast<std::int32_t>(other));
        part.value.push_back(of_row[other] / n_trees);
      }
      part.start.push_back(static_cast<std::int64_t>(part.index.size()));
      of_row.clear();
    }
  });
  return joined(std::move(parts));
}

template Proximity::Proximity(const Forest&, const TableView&, const ForestBags*, const Context&);
template Proximity::Proximity(const Forest&, const SparseRows&, const ForestBags*, const Context&);
template SparseSums Proximity::of(const TableView&, std::size_t, const Context&) const;
template SparseSums Proximity::of(const SparseRows&, std::size_t, const Context&) const;

}  // namespace arboleda
