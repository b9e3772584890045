#include "learn/boosted_scores.h"

#include <algorithm>

#include "base/compiler.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "grow/code_tree.h"

namespace arboleda {

namespace {

// Rows of one task.
constexpr std::size_t kScoreBlockRows = std::size_t{1} << 13;

// Rows from now whose scores are fetched.
constexpr std::size_t kAhead = 64;

// Linear leaves with the columns of a table.
class LinearLeafValues {
 public:
  LinearLeafValues(const LinearLeaves& leaves, const BinnedDataset& table) : leaves_(leaves) {
    for (const FeatureIndex feature : leaves.feature) {
      columns_.push_back(table.columns[static_cast<std::size_t>(feature)].source);
      require(columns_.back().data != nullptr,
              "linear leaves need the values of the columns: give a dense table");
    }
  }

  double of(std::size_t node, double value, RowIndex row) const {
    return leaves_.value_at(node, value, [&](std::size_t term) { return columns_[term][row]; });
  }

 private:
  const LinearLeaves& leaves_;
  std::vector<ColumnView> columns_;  // one a term
};

}  // namespace

BoostedScores::BoostedScores(const BinnedDataset& table, std::span<const double> start,
                             std::span<const double> offset)
    : table_(&table) {
  reserve_large(scores_, table.n_rows * start.size());
  scores_.resize(table.n_rows * start.size());
  require(offset.empty() || offset.size() == scores_.size(), "one offset a score is needed");
  std::copy(offset.begin(), offset.end(), scores_.begin());
  for (std::size_t k = 0; k < start.size(); ++k) {
    for (double& score : of(k)) score += start[k];
  }
}

void BoostedScores::add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
                        const LeafRows& leaves, const Context& context) {
  const auto scores = of(output);
  const LinearLeafValues leaf_values(linear, *table_);
  const int n_threads = leaves.rows.size() >= kScoreBlockRows ? context.n_threads() : 1;
  for_each_leaf_by_blocks(
      leaves, count_row_blocks(leaves, kScoreBlockRows), n_threads,
      [&](std::size_t first, std::size_t last) { fetch(scores.subspan(first, last - first)); },
      [&](std::size_t task, std::size_t begin, std::size_t end, int) {
        const auto node = static_cast<std::size_t>(leaves.leaves[task].node);
        const double value = tree.value[node];
        if (!linear.empty() && linear.has_terms(node)) {
          for (std::size_t i = begin; i < end; ++i) {
            const RowIndex row = leaves.rows[i];
            scores[row] += leaf_values.of(node, value, row);
          }
        } else {
          for (std::size_t i = begin; i < end; ++i) {
            if (i + kAhead < end) ARBOLEDA_PREFETCH(&scores[leaves.rows[i + kAhead]]);
            scores[leaves.rows[i]] += value;
          }
        }
      });
}

void BoostedScores::add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
                        std::span<const RowIndex> rows, const Context& context, double factor) {
  if (rows.empty()) return;
  const CodeTree codes(tree, *table_);
  const LinearLeafValues leaf_values(linear, *table_);
  const auto scores = of(output);
  const auto add_block = [&](std::size_t, std::size_t begin, std::size_t end) {
    context.check();
    const auto mine = rows.subspan(begin, end - begin);
    std::vector<NodeIndex> leaf(mine.size());
    codes.leaves(mine, leaf);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto node = static_cast<std::size_t>(leaf[i]);
      const double value = tree.value[node];
      scores[mine[i]] += factor * (linear.empty() ? value : leaf_values.of(node, value, mine[i]));
    }
  };
  parallel_blocks(context.n_threads(), rows.size(), kScoreBlockRows, add_block);
}

void BoostedScores::add(const TreeEnsemble& ensemble, std::span<const RowIndex> rows,
                        const Context& context) {
  const std::size_t n_outputs = ensemble.n_outputs();
  std::size_t node = 0;
  for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
    const Tree& tree = ensemble.trees[t];
    const std::size_t end = node + static_cast<std::size_t>(tree.n_nodes());
    add(tree.arrays(), part_of(ensemble.linear, node, end), t % n_outputs, rows, context);
    node = end;
  }
}

}  // namespace arboleda
