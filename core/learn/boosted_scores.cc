#include "learn/boosted_scores.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"
#include "grow/code_tree.h"

namespace arboleda {

namespace {

// Rows of one task.
constexpr std::size_t kBlockRows = std::size_t{1} << 13;

}  // namespace

BoostedScores::BoostedScores(const CodedTable& table, std::span<const double> start,
                             std::span<const double> offset)
    : table_(&table), scores_(table.n_rows * start.size()) {
  require(offset.empty() || offset.size() == scores_.size(), "one offset a score is needed");
  std::copy(offset.begin(), offset.end(), scores_.begin());
  for (std::size_t k = 0; k < start.size(); ++k) {
    for (double& score : of(k)) score += start[k];
  }
}

void BoostedScores::add(const TreeArrays& tree, std::size_t output, const LeafRows& leaves,
                        const Context& context) {
  const auto scores = of(output);
  const int n_threads = leaves.rows.size() >= kBlockRows ? context.n_threads() : 1;
  parallel_for(n_threads, leaves.leaves.size(), [&](std::size_t task, int) {
    const LeafRows::Leaf& leaf = leaves.leaves[task];
    const double value = tree.value[static_cast<std::size_t>(leaf.node)];
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) scores[leaves.rows[i]] += value;
  });
}

void BoostedScores::add(const TreeArrays& tree, std::size_t output, std::span<const RowIndex> rows,
                        const Context& context, double factor) {
  if (rows.empty()) return;
  const CodeTree codes(tree, *table_);
  const auto scores = of(output);
  const std::size_t n_blocks = (rows.size() + kBlockRows - 1) / kBlockRows;
  parallel_for(context.n_threads(), n_blocks, [&](std::size_t block, int) {
    context.check();
    const std::size_t begin = block * kBlockRows;
    const auto mine = rows.subspan(begin, std::min(kBlockRows, rows.size() - begin));
    std::vector<NodeIndex> leaf(mine.size());
    codes.leaves(mine, leaf);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      scores[mine[i]] += factor * tree.value[static_cast<std::size_t>(leaf[i])];
    }
  });
}

void BoostedScores::add(const TreeEnsemble& ensemble, std::span<const RowIndex> rows,
                        const Context& context) {
  const std::size_t n_outputs = ensemble.n_outputs();
  for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
    add(ensemble.trees[t].arrays(), t % n_outputs, rows, context);
  }
}

}  // namespace arboleda
