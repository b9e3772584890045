#include "grow/histogram_tree_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "data/gather_codes.h"
#include "simd/kernels.h"

namespace arboleda {

HistogramTreeBuilder::HistogramTreeBuilder(const BinnedDataset& table,
                                           std::shared_ptr<const RowCodes> codes,
                                           const HistogramOptions& options, const Context& context)
    : BoostedTreeBuilder(table, std::move(codes), options, context) {
  for (int i = 0; i < context.n_threads(); ++i) workers_.emplace_back(table_, options_);
}

void HistogramTreeBuilder::begin_tree(std::span<const RowIndex> rows,
                                      const RowDerivatives& derivatives, std::uint32_t tree,
                                      LeafRows& leaves) {
  BoostedTreeBuilder::begin_tree(rows, tree, leaves);
  gradients_.pack(rows, derivatives, context_);

  // Gradients so large or small that their squares would leave float64 are scaled for the search.
  const int exponent = std::ilogb(gradients_.gradient_unit());
  units_ = {.gradient = gradients_.gradient_unit(),
            .hessian = gradients_.hessian_unit(),
            .exponent = std::abs(exponent) > kUsualExponent ? exponent : 0,
            .seed = context_.seed(),
            .tree = tree};
  units_.gradient = std::ldexp(units_.gradient, -units_.exponent);
  const auto min_rows = static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(options_.min_samples_leaf, 1, gradients_.n_rows()));
  const double min_hessian =
      std::min(std::ceil(options_.min_child_weight / units_.hessian), 0x1p62);
  // Every row has one unit of hessian or more, and at most the largest one.
  units_.least = std::max(min_rows, static_cast<std::int64_t>(min_hessian));
  units_.enough = std::max(units_.least, min_rows * gradients_.largest_hessian());
  if (min_rows == 1) units_.enough = units_.least;
  for (Worker& worker : workers_) worker.search.begin_tree(units_);
}

void HistogramTreeBuilder::set_root(OpenNode& root) const {
  root.node.n_rows = gradients_.n_rows();
  root.node.total = gradients_.total();
}

// Below a split on a constrained column the values of its sides stay on their sides of the midpoint.
void HistogramTreeBuilder::set_sides(const OpenNode& parent, OpenNode& left,
                                     OpenNode& right) const {
  left.node.total = parent.best.left;
  right.node.total = parent.node.total - parent.best.left;
  left.node.bounds = right.node.bounds = parent.node.bounds;
  if (options_.monotonic.empty()) return;
  const int direction = options_.monotonic[static_cast<std::size_t>(parent.best.split.feature)];
  if (direction == 0) return;
  const HistogramSearch& search = workers_[0].search;
  const double middle = search.value(left.node.total, parent.node.bounds) / 2 +
                        search.value(right.node.total, parent.node.bounds) / 2;
  (direction > 0 ? left : right).node.bounds.upper = middle;
  (direction > 0 ? right : left).node.bounds.lower = middle;
}

void HistogramTreeBuilder::add_values(const OpenNode& node) {
  const double value = workers_[0].search.value(node.node.total, node.node.bounds);
  tree_.values.push_back(std::ldexp(value, units_.exponent));
}

std::pair<std::size_t, std::size_t> HistogramTreeBuilder::cells_of(std::size_t column) const {
  const RowCodes::Column& cells = codes_->columns()[column];
  return {cells.first_cell, cells.first_cell + cells.n_codes};
}

void HistogramTreeBuilder::add_rows(const RowIndex* rows, std::size_t begin, std::size_t end,
                                    Histogram& histogram, const RowWindow& window) const {
  arboleda::add_rows(*codes_, rows, begin, end, gradients_, histogram, window);
}

void HistogramTreeBuilder::sum_columns(std::size_t from, std::size_t to, const RowIndex* rows,
                                       std::size_t begin, std::size_t end,
                                       Histogram& histogram) const {
  histogram.clear_cells(from * kDenseCells, to * kDenseCells);
  kernels().histograms.add_bytes(codes_->dense(from, to), rows, begin, end, gradients_.data(),
                                 histogram.packed() + from * kDenseCells);
}

void HistogramTreeBuilder::complete(std::size_t column, const OpenNode& node,
                                    Histogram& histogram) const {
  histogram.complete(codes_->columns()[column], node.node.total);
}

void HistogramTreeBuilder::begin_search() {
  for (Worker& worker : workers_) worker.found = {};
}

void HistogramTreeBuilder::search_columns(const Task& task, std::size_t begin, std::size_t end,
                                          int thread, std::size_t which) {
  Worker& worker = workers_[static_cast<std::size_t>(thread)];
  Found& found = worker.found[which];
  auto it = std::lower_bound(task.columns.begin(), task.columns.end(), begin);
  for (; it != task.columns.end() && *it < end; ++it) {
    const double unsure = worker.search.search(task.node->node, codes_->columns()[*it],
                                               *task.node->histogram, found.best);
    // Not better ones alone: what is as good as the best of all is listed whoever has searched what.
    if (unsure >= found.best.score && std::isfinite(unsure)) found.unsure.emplace_back(unsure, *it);
  }
}

// The best split of all columns that certainly leaves rows enough, and the columns of better ones that may
// leave too few.
void HistogramTreeBuilder::end_search(Task& task, std::size_t which) {
  OpenNode& node = *task.node;
  Split& best = node.best.split;
  for (Worker& worker : workers_) {
    Found& found = worker.found[which];
    if (found.best.better_than(best)) best = std::move(found.best);
    node.unsure.insert(node.unsure.end(), found.unsure.begin(), found.unsure.end());
  }
  std::erase_if(node.unsure, [&](const auto& column) { return column.first < best.score; });
  std::sort(node.unsure.begin(), node.unsure.end(), std::greater<>());
}

// Shards count all columns of all nodes that may have to be counted, with one message.
void HistogramTreeBuilder::settle(std::span<OpenNode* const> nodes) {
  std::vector<Counts> counts;
  if (context_.shards() != nullptr) {
    for (const OpenNode* node : nodes) {
      for (const auto& [score, column] : node->unsure) {
        counts.push_back(count_own_rows(*node, codes_->columns()[column]));
      }
    }
    add_counts(counts);
  }
  std::span<const Counts> rest = counts;
  for (OpenNode* node : nodes) {
    const std::size_t n_counted = rest.empty() ? 0 : node->unsure.size();
    settle(*node, rest.first(n_counted));
    rest = rest.subspan(n_counted);
  }
}

// counts: of the unsure columns; empty: they are counted here, as far as need be.
void HistogramTreeBuilder::settle(OpenNode& node, std::span<const Counts> counts) {
  HistogramSearch& search = workers_[0].search;
  Split best = std::move(node.best.split);
  for (std::size_t i = 0; i < node.unsure.size() && node.unsure[i].first >= best.score; ++i) {
    const RowCodes::Column& column = codes_->columns()[node.unsure[i].second];
    search.search_counted(node.node, column, *node.histogram,
                          counts.empty() ? count_rows(node, column) : counts[i], best);
  }
  node.unsure.clear();
  if (best.found()) {
    node.best = search.complete(best, codes_->columns()[column_of(best.feature)], *node.histogram);
  }
}

BoostedTreeBuilder::Sides HistogramTreeBuilder::part(const OpenNode& node, const Split& split,
                                                     std::size_t column) {
  const RowCodes::Column& codes = codes_->columns()[column];
  const HistogramSearch& search = workers_[0].search;
  BoostedSplit parted = search.complete(split, codes, *node.histogram);
  parted.split.score = search.allowed_score(node.node, split.feature, parted.left, 0.0);
  if (std::isinf(parted.split.score) || !leaves_rows(node, parted, codes)) {
    parted.split.feature = -1;
  }
  return {std::move(parted), {}};
}

HistogramTreeBuilder::Counts HistogramTreeBuilder::count_own_rows(const OpenNode& node,
                                                                  const RowCodes::Column& column) {
  Counts counts(column.n_codes);
  gather_codes(table_.columns[static_cast<std::size_t>(column.feature)],
               rows_.subspan(node.begin, node.n_own_rows()), gathered_);
  for (const Code code : gathered_) ++counts[code];
  return counts;
}

HistogramTreeBuilder::Counts HistogramTreeBuilder::count_rows(const OpenNode& node,
                                                              const RowCodes::Column& column) {
  Counts counts = count_own_rows(node, column);
  add_counts(std::span(&counts, 1));
  return counts;
}

TreeArrays HistogramTreeBuilder::end_tree(const RowDerivatives& derivatives, LeafRows& leaves) {
  list_leaves(leaves);
  auto sums = sum_leaves(derivatives, gradients_.gradient_scale(), gradients_.hessian_scale(),
                         leaves, context_);
  const std::size_t n_leaves = leaves_.size();
  add_all(context_.shards(), std::span(sums));
  const NewtonLeaf newton{options_.l1, options_.l2, options_.max_delta_step};
  for (std::size_t i = 0; i < n_leaves; ++i) {
    const auto node = static_cast<std::size_t>(leaves_[i].id);
    const double g = sums[i].to_real(gradients_.gradient_scale());
    const double h = gradients_.has_unit_hessian()
                         ? static_cast<double>(tree_.nodes[node].n_rows)
                         : sums[n_leaves + i].to_real(gradients_.hessian_scale());
    const LeafRows::Leaf& leaf = leaves.leaves[i];
    tree_.values[node] = newton.value(g, h, {leaf.lower, leaf.upper});
  }
  return flatten_tree();
}

}  // namespace arboleda
