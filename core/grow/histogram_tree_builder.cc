#include "grow/histogram_tree_builder.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/gather_codes.h"
#include "data/midpoint.h"
#include "grow/row_partition.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// Updates of cells, and rows to part, from which a second thread pays.
constexpr std::size_t kParallelUpdates = std::size_t{1} << 14;
constexpr std::size_t kParallelRows = std::size_t{1} << 14;

// Histograms of open nodes may take this much memory; beyond it, both children are made from rows.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 28;

// Squares of gradients stay within float64 for exponents up to this.
constexpr int kUsualExponent = 300;

// Midway to the next code of the table, so that a row's code alone decides its path.
double threshold_after(const CodedColumn& column, Code code) {
  if (code + 1 >= column.n_values) return std::numeric_limits<double>::infinity();
  const double low = column.upper.empty() ? column.values[code] : column.upper[code];
  return midpoint(low, column.values[code + 1]);
}

}  // namespace

HistogramTreeBuilder::HistogramTreeBuilder(const BinnedDataset& table,
                                           std::shared_ptr<const RowCodes> codes,
                                           const HistogramOptions& options, const Context& context)
    : table_(table),
      codes_(std::move(codes)),
      options_(options),
      context_(context),
      columns_(*codes_, options_, context.seed()) {
  for (int i = 0; i < context.n_threads(); ++i) workers_.emplace_back(table_, options_);
  parts_.resize(workers_.size() - 1);
}

void HistogramTreeBuilder::begin_tree(std::span<const RowIndex> rows,
                                      std::span<const double> gradient,
                                      std::span<const double> hessian, std::uint32_t tree,
                                      LeafRows& leaves) {
  gradients_.pack(rows, gradient, hessian, context_);
  reserve_large(leaves.rows, rows.size());
  leaves.rows.assign(rows.begin(), rows.end());
  leaves.leaves.clear();
  rows_ = leaves.rows;
  all_rows_ = rows.size() == table_.n_rows;
  tree_ = {};
  leaves_.clear();
  columns_.begin_tree(tree);

  // Gradients so large or small that their squares would leave float64 are scaled for the search.
  const int exponent = std::ilogb(gradients_.gradient_unit());
  units_ = {.gradient = gradients_.gradient_unit(),
            .hessian = gradients_.hessian_unit(),
            .exponent = std::abs(exponent) > kUsualExponent ? exponent : 0,
            .seed = context_.seed(),
            .tree = tree};
  units_.gradient = std::ldexp(units_.gradient, -units_.exponent);
  const auto min_rows = static_cast<std::int64_t>(
      std::clamp<std::uint64_t>(options_.min_samples_leaf, 1, rows.size()));
  const double min_hessian =
      std::min(std::ceil(options_.min_child_weight / units_.hessian), 0x1p62);
  // Every row has one unit of hessian or more, and at most the largest one.
  units_.least = std::max(min_rows, static_cast<std::int64_t>(min_hessian));
  units_.enough = std::max(units_.least, min_rows * gradients_.largest_hessian());
  if (min_rows == 1) units_.enough = units_.least;
  for (Worker& worker : workers_) worker.search.begin_tree(units_);
}

OpenNode HistogramTreeBuilder::open_root() {
  OpenNode root;
  root.end = rows_.size();
  root.node.total = gradients_.total();
  root.node.n_rows = rows_.size();
  root.groups = columns_.all_groups();
  root.id = add_node(root.node);
  open(root, nullptr, nullptr);
  all_rows_ = false;
  return root;
}

std::pair<OpenNode, OpenNode> HistogramTreeBuilder::open_children(OpenNode parent, bool is_last) {
  context_.check();
  const auto rows = rows_.subspan(parent.begin, parent.n_rows());
  const Split& split = parent.best.split;
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(split.feature)];
  const std::size_t n_left =
      partition_.part(column, split, rows, rows.size() >= kParallelRows ? context_.n_threads() : 1);
  require(n_left > 0 && n_left < rows.size(), "a split leaves no rows on one side");
  split_node(parent, n_left);

  OpenNode left, right;
  left.begin = parent.begin;
  left.end = right.begin = parent.begin + n_left;
  right.end = parent.end;
  left.node.total = parent.best.left;
  right.node.total = parent.node.total - parent.best.left;
  const auto groups = is_symmetric() ? parent.groups : columns_.after(parent.groups, split.feature);
  for (OpenNode* child : {&left, &right}) {
    child->node.n_rows = child->n_rows();
    child->node.depth = parent.node.depth + 1;
    child->node.key = child_key(parent.node.key, child == &left);
    child->groups = groups;
  }
  set_bounds(parent, left, right);
  left.id = add_node(left.node);
  right.id = add_node(right.node);
  auto& node = tree_.nodes[static_cast<std::size_t>(parent.id)];
  node.left = left.id;
  node.right = right.id;

  if (!is_last) {
    const bool left_is_smaller = left.n_rows() <= right.n_rows();
    open(left_is_smaller ? left : right, left_is_smaller ? &right : &left,
         std::move(parent.histogram));
  } else {
    give_back(std::move(parent.histogram));
  }
  return {std::move(left), std::move(right)};
}

void HistogramTreeBuilder::close(OpenNode node) {
  give_back(std::move(node.histogram));
  leaves_.push_back({node.id, node.begin, node.end, node.node.bounds});
}

NodeIndex HistogramTreeBuilder::add_node(const BoostedNode& node) {
  const auto id = static_cast<NodeIndex>(tree_.nodes.size());
  tree_.nodes.push_back({.n_rows = static_cast<std::int64_t>(node.n_rows),
                         .weight = static_cast<double>(node.total.hessian) * units_.hessian});
  const double value = workers_[0].search.value(node.total, node.bounds);
  tree_.values.push_back(std::ldexp(value, units_.exponent));
  return id;
}

bool HistogramTreeBuilder::may_be_split(const OpenNode& node) const {
  return node.node.depth < options_.max_depth &&
         node.n_rows() >= 2 * std::max<std::uint64_t>(options_.min_samples_leaf, 1) &&
         node.node.total.hessian >= 2 * units_.least;
}

// Writes the split of a node whose rows were partitioned.
void HistogramTreeBuilder::split_node(const OpenNode& parent, std::size_t n_left) {
  const Split& split = parent.best.split;
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(split.feature)];
  auto& node = tree_.nodes[static_cast<std::size_t>(parent.id)];
  node.feature = split.feature;
  node.impurity = parent.improvement;
  const auto rows = rows_.subspan(parent.begin, parent.n_rows());
  // A side for missing values that the node never saw: the heavier child. Its weight is its hessian,
  // not its rows, so that a row of weight 2 is as good as the row twice.
  const Wide right = parent.node.total - parent.best.left;
  node.missing_left =
      parent.best.saw_missing ? split.missing_left : parent.best.left.hessian > right.hessian;
  if (column.is_categorical) {
    PartitionScratch scratch;
    const auto others = node.missing_left ? rows.subspan(n_left) : rows.first(n_left);
    const auto categories = categories_among(column, others, scratch);
    node.category_begin = tree_.categories.size();
    tree_.categories.insert(tree_.categories.end(), categories.begin(), categories.end());
    node.category_end = tree_.categories.size();
  } else {
    node.threshold = threshold_after(column, split.code);
  }
}

// Below a split on a constrained column the values of its sides stay on their sides of the midpoint.
void HistogramTreeBuilder::set_bounds(const OpenNode& parent, OpenNode& left,
                                      OpenNode& right) const {
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

void HistogramTreeBuilder::open(OpenNode& smaller, OpenNode* larger,
                                std::unique_ptr<Histogram> parent) {
  Task first{&smaller, may_be_split(smaller), {}};
  Task second{larger, larger != nullptr && may_be_split(*larger), {}};
  for (Task* task : {&first, &second}) {
    if (!task->is_searched || is_symmetric()) continue;
    const BoostedNode& node = task->node->node;
    task->columns = columns_.at_node(*task->node->groups, node.depth, node.key);
    task->is_searched = !task->columns.empty();
  }
  const bool subtracts = second.is_searched && parent != nullptr;
  if (first.is_searched || subtracts) {
    smaller.histogram = take_histogram(smaller.n_rows());
    build(smaller, *smaller.histogram);
    const Histogram* whole = parent.get();
    if (subtracts) {
      // In place where the cells keep their width.
      const bool is_wide = !gradients_.fits_packed(larger->n_rows());
      larger->histogram =
          parent->is_wide() == is_wide ? std::move(parent) : take_histogram(larger->n_rows());
    }
    search(first, subtracts ? &second : nullptr, whole);
  }
  give_back(std::move(parent));
  if (second.is_searched && !subtracts) {
    larger->histogram = take_histogram(larger->n_rows());
    build(*larger, *larger->histogram);
    search(second, nullptr, nullptr);
  }
  if (is_symmetric()) {
    // A node that may not be split takes no part in the search of its level.
    if (!first.is_searched) give_back(std::move(smaller.histogram));
    return;
  }
  decide(smaller);
  if (larger != nullptr) decide(*larger);
}

// Every thread sums up a part of the rows; search() adds the parts up.
void HistogramTreeBuilder::build(const OpenNode& node, Histogram& histogram) {
  const std::size_t n = node.n_rows();
  const std::size_t work = n * codes_->updates_a_row();
  // A part pays while it has more updates than the histogram has cells.
  n_parts_ = std::clamp<std::size_t>(work / std::max(kParallelUpdates, codes_->n_cells()), 1,
                                     workers_.size());
  parallel_for(static_cast<int>(n_parts_), n_parts_, [&](std::size_t part, int) {
    Histogram& sums = part == 0 ? histogram : parts_[part - 1];
    sums.clear(codes_->n_cells(), histogram.is_wide());
    const std::size_t begin = node.begin + part * n / n_parts_;
    const std::size_t end = node.begin + (part + 1) * n / n_parts_;
    add_rows(*codes_, all_rows_ ? nullptr : rows_.data(), begin, end, gradients_, sums);
  });
}

// Finishes the histogram of the first node, column by column, makes that of the second, whole less
// first, and searches both.
void HistogramTreeBuilder::search(Task& first, Task* second, const Histogram* whole) {
  const auto& columns = codes_->columns();
  const bool parallel = codes_->n_cells() >= kParallelCells;
  const std::size_t n_tasks = std::min(columns.size(), parallel ? 4 * workers_.size() : 1);
  for (Worker& worker : workers_) worker.found = {};
  Histogram& mine = *first.node->histogram;
  parallel_for(parallel ? context_.n_threads() : 1, n_tasks, [&](std::size_t task, int thread) {
    Worker& worker = workers_[static_cast<std::size_t>(thread)];
    const std::size_t begin = task * columns.size() / n_tasks;
    const std::size_t end = (task + 1) * columns.size() / n_tasks;
    for (std::size_t c = begin; c < end; ++c) {
      const std::size_t from = columns[c].first_cell;
      const std::size_t to = from + columns[c].n_codes;
      for (std::size_t part = 1; part < n_parts_; ++part) mine.add(parts_[part - 1], from, to);
      mine.complete(columns[c], first.node->node.total);
      if (second != nullptr) whole->subtract(mine, from, to, *second->node->histogram);
    }
    search_columns(first, begin, end, worker.search, worker.found[0]);
    if (second != nullptr) search_columns(*second, begin, end, worker.search, worker.found[1]);
  });
  confirm_split(first, 0);
  if (second != nullptr) confirm_split(*second, 1);
}

void HistogramTreeBuilder::search_columns(const Task& task, std::size_t begin, std::size_t end,
                                          HistogramSearch& search, Found& found) const {
  if (!task.is_searched) return;
  auto it = std::lower_bound(task.columns.begin(), task.columns.end(), begin);
  for (; it != task.columns.end() && *it < end; ++it) {
    const double unsure =
        search.search(task.node->node, codes_->columns()[*it], *task.node->histogram, found.best);
    if (unsure > found.best.score) found.unsure.emplace_back(unsure, *it);
  }
}

// The best split of all columns. Where one that may leave too few rows would be better, its column's
// rows are counted.
void HistogramTreeBuilder::confirm_split(Task& task, std::size_t which) {
  if (!task.is_searched) return;
  OpenNode& node = *task.node;
  Split best;
  std::vector<std::pair<double, std::size_t>> unsure;
  for (Worker& worker : workers_) {
    Found& found = worker.found[which];
    if (found.best.better_than(best)) best = std::move(found.best);
    unsure.insert(unsure.end(), found.unsure.begin(), found.unsure.end());
  }
  HistogramSearch& search = workers_[0].search;
  std::sort(unsure.begin(), unsure.end(), std::greater<>());
  for (const auto& [score, column] : unsure) {
    if (score < best.score) break;
    count_rows(node, codes_->columns()[column]);
    search.search_counted(node.node, codes_->columns()[column], *node.histogram, counts_, best);
  }
  if (best.found()) node.best = search.complete(best, column_of(best.feature), *node.histogram);
}

const RowCodes::Column& HistogramTreeBuilder::column_of(FeatureIndex feature) const {
  return *std::find_if(codes_->columns().begin(), codes_->columns().end(),
                       [&](const auto& column) { return column.feature == feature; });
}

// Rows of each code.
void HistogramTreeBuilder::count_rows(const OpenNode& node, const RowCodes::Column& column) {
  counts_.assign(column.n_codes, 0);
  gather_codes(table_.columns[static_cast<std::size_t>(column.feature)],
               rows_.subspan(node.begin, node.n_rows()), gathered_);
  for (const Code code : gathered_) ++counts_[code];
}

void HistogramTreeBuilder::decide(OpenNode& node) {
  if (node.best.split.found()) {
    const double before = workers_[0].search.node_score(node.node);
    const double gain = 0.5 * (node.best.split.score - before) - least_gain();
    node.can_be_split = gain > kRounding * std::abs(before);
    node.improvement = node.can_be_split ? gain : 0.0;
  }
  if (!node.can_be_split || n_histograms_ > most_histograms()) {
    give_back(std::move(node.histogram));
  }
}

std::size_t HistogramTreeBuilder::most_histograms() const {
  return std::max<std::size_t>(
      kHistogramBytes / (sizeof(Packed) * std::max<std::size_t>(codes_->n_cells(), 1)), 2);
}

std::unique_ptr<Histogram> HistogramTreeBuilder::take_histogram(std::size_t n_rows) {
  std::unique_ptr<Histogram> histogram;
  if (unused_.empty()) {
    histogram = std::make_unique<Histogram>();
    ++n_histograms_;
  } else {
    histogram = std::move(unused_.back());
    unused_.pop_back();
  }
  histogram->resize(codes_->n_cells(), !gradients_.fits_packed(n_rows));
  return histogram;
}

void HistogramTreeBuilder::give_back(std::unique_ptr<Histogram> histogram) {
  if (histogram != nullptr) unused_.push_back(std::move(histogram));
}

TreeArrays HistogramTreeBuilder::end_tree(std::span<const double> gradient,
                                          std::span<const double> hessian, LeafRows& leaves) {
  std::sort(leaves_.begin(), leaves_.end(),
            [](const Leaf& a, const Leaf& b) { return a.begin < b.begin; });
  const std::vector<NodeIndex> places = preorder(tree_);
  for (const Leaf& leaf : leaves_) {
    leaves.leaves.push_back({places[static_cast<std::size_t>(leaf.id)], leaf.begin, leaf.end,
                             std::ldexp(leaf.bounds.lower, units_.exponent),
                             std::ldexp(leaf.bounds.upper, units_.exponent)});
  }
  const auto of_gradient = sum_leaves(gradient, gradients_.gradient_scale(), leaves, context_);
  const auto of_hessian = sum_leaves(hessian, gradients_.hessian_scale(), leaves, context_);
  const NewtonLeaf newton{options_.l1, options_.l2, options_.max_delta_step};
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const LeafRows::Leaf& leaf = leaves.leaves[i];
    const double g = of_gradient[i].to_real(gradients_.gradient_scale());
    const double h = hessian.empty() ? static_cast<double>(leaf.end - leaf.begin)
                                     : of_hessian[i].to_real(gradients_.hessian_scale());
    tree_.values[static_cast<std::size_t>(leaves_[i].id)] =
        newton.value(g, h, {leaf.lower, leaf.upper});
  }
  rows_ = {};
  std::vector<TreeArrays> none;
  TreeArrays arrays = flatten(tree_, none, table_.n_features(), 1);
  arrays.impurity_exponent = 2 * units_.exponent;
  return arrays;
}

}  // namespace arboleda
