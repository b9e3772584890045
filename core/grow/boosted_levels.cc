// Symmetric trees: the one split of all nodes of a level.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/thread_pool.h"
#include "grow/histogram_tree_builder.h"

namespace arboleda {

bool HistogramTreeBuilder::search_level(std::vector<OpenNode>& level, std::int32_t depth) {
  context_.check();
  std::vector<LevelNode> nodes;
  double before = 0.0;
  const HistogramSearch& search = workers_[0].search;
  for (const OpenNode& node : level) {
    if (node.histogram == nullptr) continue;  // too small or too deep to be split
    nodes.push_back({&node.node, node.histogram.get(), search.node_score(node.node)});
    before += nodes.back().score;
  }
  if (nodes.empty()) return false;
  Split split = search_all(nodes, depth, *level.front().groups);
  if (split.found() && !is_certain(nodes, split)) split = confirm_level_splits(level, nodes);
  if (!split.found()) return false;
  if (!(0.5 * (split.score - before) - least_gain() > kRounding * std::abs(before))) {
    return false;
  }
  const RowCodes::Column& column = codes_->columns()[column_of(split.feature)];
  const auto groups = columns_.after(level.front().groups, split.feature);
  for (OpenNode& node : level) {
    node.can_be_split = false;
    node.groups = groups;
    if (node.histogram == nullptr) continue;
    BoostedSplit own = search.complete(split, column, *node.histogram);
    const double more_l2 = search.more_l2(column, *node.histogram);
    const double score = search.allowed_score(node.node, split.feature, own.left, more_l2);
    if (std::isinf(score) || !leaves_rows(node, own, column)) continue;
    node.can_be_split = true;
    node.gain = std::max(0.5 * (score - search.node_score(node.node)), 0.0);
    node.best = std::move(own);
  }
  return std::any_of(level.begin(), level.end(),
                     [](const auto& node) { return node.can_be_split; });
}

Split HistogramTreeBuilder::search_all(std::span<const LevelNode> level, std::int32_t depth,
                                       const ColumnChoice::Groups& groups) {
  const auto columns = columns_.at_node(groups, depth, static_cast<std::uint64_t>(depth));
  const std::size_t n_tasks = std::min(columns.size(), 4 * workers_.size());
  const bool parallel = level.size() * codes_->n_cells() >= kParallelCells;
  for (Worker& worker : workers_) {
    worker.of_level = {};
    worker.level_scores.clear();
  }
  parallel_for(parallel ? context_.n_threads() : 1, n_tasks, [&](std::size_t task, int thread) {
    Worker& worker = workers_[static_cast<std::size_t>(thread)];
    const std::size_t end = (task + 1) * columns.size() / n_tasks;
    for (std::size_t c = task * columns.size() / n_tasks; c < end; ++c) {
      Split best;
      worker.level_search.search(level, codes_->columns()[columns[c]], best);
      worker.level_scores.emplace_back(best.score, columns[c]);
      if (best.better_than(worker.of_level)) worker.of_level = std::move(best);
    }
  });
  Split best;
  for (const Worker& worker : workers_) {
    if (worker.of_level.better_than(best)) best = worker.of_level;
  }
  return best;
}

// Whether every node that a split parts has rows enough on both sides for its hessians alone.
bool HistogramTreeBuilder::is_certain(std::span<const LevelNode> level, const Split& split) const {
  const RowCodes::Column& column = codes_->columns()[column_of(split.feature)];
  return std::all_of(level.begin(), level.end(), [&](const LevelNode& node) {
    const Wide left = workers_[0].search.complete(split, column, *node.histogram).left;
    const Wide right = node.node->total - left;
    return std::min(left.hessian, right.hessian) < units_.least ||
           std::min(left.hessian, right.hessian) >= units_.enough;
  });
}

// The best split of a level of which no node parts off too few rows. Columns are counted as long as
// their best score without counting is no less than what was found with it.
Split HistogramTreeBuilder::confirm_level_splits(std::span<const OpenNode> open,
                                                 std::span<LevelNode> level) {
  std::vector<std::pair<double, std::size_t>> scores;
  for (Worker& worker : workers_) {
    scores.insert(scores.end(), worker.level_scores.begin(), worker.level_scores.end());
  }
  std::sort(scores.begin(), scores.end(), std::greater<>());
  std::vector<Counts> counts(level.size());
  Split best;
  for (const auto& [score, place] : scores) {
    if (score < best.score) break;
    const RowCodes::Column& column = codes_->columns()[place];
    std::size_t i = 0;
    for (const OpenNode& node : open) {
      if (node.histogram != nullptr) counts[i++] = count_own_rows(node, column);
    }
    add_counts(counts);
    for (i = 0; i < level.size(); ++i) level[i].n_rows = counts[i];
    workers_[0].level_search.search(level, column, best);
  }
  return best;
}

// Whether both sides have rows enough: by their hessian, else by counting.
bool HistogramTreeBuilder::leaves_rows(const OpenNode& node, const BoostedSplit& split,
                                       const RowCodes::Column& column) {
  const Wide right = node.node.total - split.left;
  if (split.left.hessian >= units_.enough && right.hessian >= units_.enough) return true;
  const Counts counts = count_rows(node, column);
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  std::size_t n_left = 0;
  for (const Code code : split.split.left_codes) n_left += counts[code];
  if (!codes.is_categorical) {
    for (std::size_t code = 0; code <= split.split.code; ++code) n_left += counts[code];
    if (split.split.missing_left) n_left += counts[codes.get_missing_code()];
  }
  return n_left >= options_.min_samples_leaf &&
         node.node.n_rows - n_left >= options_.min_samples_leaf;
}

}  // namespace arboleda
