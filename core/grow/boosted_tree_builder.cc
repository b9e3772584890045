#include "grow/boosted_tree_builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/midpoint.h"
#include "grow/row_partition.h"

namespace arboleda {

namespace {

// Updates of cells from which a second thread pays.
constexpr std::size_t kParallelUpdates = std::size_t{1} << 14;

// Updates of cells up to which threads share the columns of a node rather than its rows, and bytes of a table
// up to which all of them may read each row.
constexpr std::size_t kColumnUpdates = std::size_t{1} << 17;
constexpr std::size_t kNearBytes = std::size_t{1} << 20;

// Histograms of open nodes may take this much memory; beyond it, both children are made from rows.
constexpr std::size_t kHistogramBytes = std::size_t{1} << 28;

// Midway to the next code of the table, so that a row's code alone decides its path.
double threshold_after(const CodedColumn& column, Code code) {
  if (code + 1 >= column.n_values) return std::numeric_limits<double>::infinity();
  const double low = column.upper.empty() ? column.values[code] : column.upper[code];
  return midpoint(low, column.values[code + 1]);
}

// The last code on the left of a threshold, at the nearer edge of a bin that it is in; or kNoCode.
Code code_before(const CodedColumn& column, double threshold) {
  const auto& values = column.values;
  const auto after = std::upper_bound(values.begin(), values.end(), threshold);
  auto n_left = static_cast<std::size_t>(after - values.begin());
  if (n_left > 0 && !column.upper.empty()) {
    const double upper = column.upper[n_left - 1];
    if (threshold < upper && threshold - values[n_left - 1] < upper - threshold) --n_left;
  }
  return n_left > 0 ? static_cast<Code>(n_left - 1) : Split::kNoCode;
}

}  // namespace

OpenNode::OpenNode() = default;
OpenNode::OpenNode(OpenNode&& other) noexcept = default;
OpenNode& OpenNode::operator=(OpenNode&& other) noexcept = default;
OpenNode::~OpenNode() = default;

BoostedTreeBuilder::BoostedTreeBuilder(const BinnedDataset& table,
                                       std::shared_ptr<const RowCodes> codes,
                                       const HistogramOptions& options, const Context& context)
    : table_(table),
      codes_(std::move(codes)),
      options_(options),
      context_(context),
      columns_(*codes_, options_, context.seed()),
      parts_(static_cast<std::size_t>(context.n_threads() - 1)),
      is_near_(codes_->all_dense() && table.n_rows * codes_->dense().stride <= kNearBytes) {}

void BoostedTreeBuilder::begin_tree(std::span<const RowIndex> rows, std::uint32_t tree,
                                    LeafRows& leaves) {
  reserve_large(leaves.rows, rows.size());
  leaves.rows.assign(rows.begin(), rows.end());
  leaves.leaves.clear();
  rows_ = leaves.rows;
  all_rows_ = rows.size() == table_.n_rows;
  tree_ = {};
  leaves_.clear();
  columns_.begin_tree(tree);
}

OpenNode BoostedTreeBuilder::open_root() {
  OpenNode root;
  root.end = rows_.size();
  root.groups = columns_.all_groups();
  root.forced = options_.forced_splits.empty() ? -1 : 0;
  set_root(root);
  root.id = add_node(root);
  open(root, nullptr, nullptr);
  all_rows_ = false;
  return root;
}

// Returns how many rows are on the left.
std::size_t BoostedTreeBuilder::part_own_rows(const OpenNode& parent) {
  context_.check();
  const auto rows = rows_.subspan(parent.begin, parent.n_own_rows());
  return partition_.part(split_column(parent), parent.best.split, rows,
                         threads_to_part(rows.size()));
}

// The children of a node, whose rows are parted: not yet in the tree, and without histograms.
BoostedTreeBuilder::Children BoostedTreeBuilder::part_rows(OpenNode& parent) {
  const std::size_t n_own_left = part_own_rows(parent);
  std::uint64_t n_left = n_own_left;
  OpenNode* const only = &parent;
  if (context_.shards() != nullptr) {
    share_parts(std::span(&only, 1), std::span(&n_own_left, 1), {}, std::span(&n_left, 1));
  }
  return make_children(parent, n_own_left, n_left);
}

BoostedTreeBuilder::Children BoostedTreeBuilder::make_children(const OpenNode& parent,
                                                               std::size_t n_own_left,
                                                               std::uint64_t n_left) const {
  require(n_left > 0 && n_left < parent.node.n_rows, "a split leaves no rows on one side");
  OpenNode left, right;
  left.begin = parent.begin;
  left.end = right.begin = parent.begin + n_own_left;
  right.end = parent.end;
  left.node.n_rows = n_left;
  right.node.n_rows = parent.node.n_rows - n_left;
  const FeatureIndex feature = parent.best.split.feature;
  const auto groups = is_symmetric() ? parent.groups : columns_.after(parent.groups, feature);
  for (OpenNode* child : {&left, &right}) {
    child->node.depth = parent.node.depth + 1;
    child->node.key = child_key(parent.node.key, child == &left);
    child->groups = groups;
  }
  set_sides(parent, left, right);
  if (parent.forced >= 0) {
    const ForcedSplit& forced = options_.forced_splits[static_cast<std::size_t>(parent.forced)];
    left.forced = forced.left;
    right.forced = forced.right;
  }
  return {std::move(left), std::move(right)};
}

// A side for missing values that the node never saw: the heavier child. Its weight is its hessian, not its
// rows, so that a row of weight 2 is as good as the row twice.
bool BoostedTreeBuilder::sends_missing_left(const OpenNode& parent) {
  const Wide right = parent.node.total - parent.best.left;
  return parent.best.saw_missing ? parent.best.split.missing_left
                                 : parent.best.left.hessian > right.hessian;
}

// Of the side without missing rows.
std::vector<CategoryIndex> BoostedTreeBuilder::own_categories(const OpenNode& parent,
                                                              std::size_t n_own_left) const {
  const auto rows = rows_.subspan(parent.begin, parent.n_own_rows());
  PartitionScratch scratch;
  return categories_among(
      split_column(parent),
      sends_missing_left(parent) ? rows.subspan(n_own_left) : rows.first(n_own_left), scratch);
}

std::pair<OpenNode, OpenNode> BoostedTreeBuilder::open_children(OpenNode parent, bool is_last) {
  const bool is_open = parent.ahead != nullptr;
  auto [left, right] = is_open ? std::move(*parent.ahead) : part_rows(parent);
  split_node(parent, left.n_own_rows());
  left.id = add_node(left);
  right.id = add_node(right);
  auto& node = tree_.nodes[static_cast<std::size_t>(parent.id)];
  node.left = left.id;
  node.right = right.id;

  if (!is_last && !is_open) {
    const bool left_is_smaller = left.node.n_rows <= right.node.n_rows;
    open(left_is_smaller ? left : right, left_is_smaller ? &right : &left,
         std::move(parent.histogram));
  } else {
    give_back(std::move(parent.histogram));
  }
  return {std::move(left), std::move(right)};
}

void BoostedTreeBuilder::close(OpenNode node) {
  forget_children(node);
  give_back(std::move(node.histogram));
  leaves_.push_back({node.id, node.begin, node.end, node.node.bounds});
}

// Of a node whose rows were parted in vain.
void BoostedTreeBuilder::forget_children(OpenNode& node) {
  if (node.ahead == nullptr) return;
  for (OpenNode* child : {&node.ahead->first, &node.ahead->second}) {
    forget_children(*child);
    give_back(std::move(child->histogram));
  }
  const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(node.begin);
  const auto middle = rows_.begin() + static_cast<std::ptrdiff_t>(node.ahead->first.end);
  std::inplace_merge(begin, middle, rows_.begin() + static_cast<std::ptrdiff_t>(node.end));
  node.ahead = nullptr;
}

NodeIndex BoostedTreeBuilder::add_node(const OpenNode& node) {
  const auto id = static_cast<NodeIndex>(tree_.nodes.size());
  tree_.nodes.push_back({.n_rows = static_cast<std::int64_t>(node.node.n_rows),
                         .weight = static_cast<double>(node.node.total.hessian) * units_.hessian});
  add_values(node);
  return id;
}

bool BoostedTreeBuilder::may_be_split(const OpenNode& node) const {
  return node.node.depth < options_.max_depth &&
         node.node.n_rows >= 2 * std::max<std::uint64_t>(options_.min_samples_leaf, 1) &&
         node.node.total.hessian >= 2 * units_.least;
}

// Writes the split of a node whose rows were partitioned.
void BoostedTreeBuilder::split_node(const OpenNode& parent, std::size_t n_own_left) {
  const CodedColumn& column = split_column(parent);
  auto& node = tree_.nodes[static_cast<std::size_t>(parent.id)];
  node.feature = parent.best.split.feature;
  node.impurity = parent.gain;
  node.missing_left = sends_missing_left(parent);
  if (column.is_categorical) {
    const auto categories =
        context_.shards() != nullptr ? parent.categories : own_categories(parent, n_own_left);
    node.category_begin = tree_.categories.size();
    tree_.categories.insert(tree_.categories.end(), categories.begin(), categories.end());
    node.category_end = tree_.categories.size();
  } else {
    node.threshold = threshold_after(column, parent.best.split.code);
  }
}

void BoostedTreeBuilder::open(OpenNode& smaller, OpenNode* larger,
                              std::unique_ptr<Histogram> parent) {
  search_nodes(smaller, larger, std::move(parent));
  const std::array<OpenNode*, 2> both{&smaller, larger};
  decide(std::span(both).first(larger != nullptr ? 2 : 1));
}

// Of symmetric trees, only makes the histograms of nodes that may be split: the others take no part in the
// search of their level.
void BoostedTreeBuilder::search_nodes(OpenNode& smaller, OpenNode* larger,
                                      std::unique_ptr<Histogram> parent) {
  Task first{&smaller, may_be_split(smaller), {}};
  Task second{larger, larger != nullptr && may_be_split(*larger), {}};
  for (Task* task : {&first, &second}) {
    if (!task->is_searched || is_symmetric()) continue;
    const BoostedNode& node = task->node->node;
    task->columns = columns_.at_node(*task->node->groups, node.depth, node.key);
    task->is_searched = !task->columns.empty() || task->node->forced >= 0;
  }
  const bool subtracts = second.is_searched && parent != nullptr;
  if (first.is_searched || subtracts) {
    if (smaller.histogram != nullptr) {  // filled by open_ahead()
      n_parts_ = 1;
    } else {
      make_histogram(smaller);
    }
    const Histogram* whole = parent.get();
    if (subtracts) {
      // In place where the cells keep their width.
      const std::uint64_t n_rows = larger->node.n_rows;
      const bool is_wide = !fits_packed(n_rows);
      larger->histogram = parent->is_wide() == is_wide ? std::move(parent) : take_histogram(n_rows);
    }
    search(first, subtracts ? &second : nullptr, whole);
  }
  give_back(std::move(parent));
  if (second.is_searched && !subtracts) {
    make_histogram(*larger);
    search(second, nullptr, nullptr);
  }
  if (is_symmetric() && !first.is_searched) give_back(std::move(smaller.histogram));
}

void BoostedTreeBuilder::decide(std::span<OpenNode* const> nodes) {
  if (is_symmetric()) return;
  settle(nodes);
  for (OpenNode* node : nodes) decide(*node);
}

// Few rows of a small table: the cells of a column stay with one thread, and threads wait for each other once
// a node. Cells of many outputs: those of a block of columns stay near until they are searched.
bool BoostedTreeBuilder::sums_by_columns(std::size_t n_updates, const Histogram& histogram) const {
  return block_ends_.size() > 1 ||
         (is_parallel() && is_near_ && n_updates < kColumnUpdates && !histogram.is_wide());
}

void BoostedTreeBuilder::make_histogram(OpenNode& node) {
  node.histogram = take_histogram(node.node.n_rows);
  if (context_.shards() == nullptr) return sum_up(node, *node.histogram);
  fill(node);
  add_histogram(node);
}

// The whole histogram of the own rows but for usual codes, which search() completes.
void BoostedTreeBuilder::fill(const OpenNode& node) {
  Histogram& histogram = *node.histogram;
  sum_up(node, histogram);
  const std::vector<std::size_t> ends = task_ends();
  parallel_for(is_parallel() ? context_.n_threads() : 1, ends.size(), [&](std::size_t task, int) {
    const std::size_t begin = task == 0 ? 0 : ends[task - 1];
    sum_own_columns(node, begin, ends[task], histogram);
    for (std::size_t c = begin; c < ends[task]; ++c) add_parts(c, histogram);
  });
  n_parts_ = 1;
}

// Where search() makes the histogram column by column.
void BoostedTreeBuilder::sum_own_columns(const OpenNode& node, std::size_t begin, std::size_t end,
                                         Histogram& histogram) const {
  if (n_parts_ > 0) return;
  sum_columns(begin, end, all_rows_ ? nullptr : rows_.data(), node.begin, node.end, histogram);
}

void BoostedTreeBuilder::add_parts(std::size_t column, Histogram& histogram) const {
  const auto [from, to] = cells_of(column);
  for (std::size_t part = 1; part < n_parts_; ++part) histogram.add(parts_[part - 1], from, to);
}

// Of many rows every thread sums up a part, and search() adds the parts up.
void BoostedTreeBuilder::sum_up(const OpenNode& node, Histogram& histogram) {
  const std::size_t n = node.n_own_rows();
  if (is_swept()) return sum_up_swept(node, histogram);
  const std::size_t work = n * updates_a_row();
  if (sums_by_columns(work, histogram)) {
    n_parts_ = 0;
    return;
  }
  // A part pays while it has more updates than the histogram has cells.
  n_parts_ =
      std::clamp<std::size_t>(work / std::max(kParallelUpdates, n_cells()), 1, parts_.size() + 1);
  parallel_for(static_cast<int>(n_parts_), n_parts_, [&](std::size_t part, int) {
    Histogram& sums = part == 0 ? histogram : parts_[part - 1];
    sums.clear(n_cells(), histogram.is_wide());
    const std::size_t begin = node.begin + part * n / n_parts_;
    const std::size_t end = node.begin + (part + 1) * n / n_parts_;
    add_rows(all_rows_ ? nullptr : rows_.data(), begin, end, sums, {});
  });
}

// One more than the last column of each task of a search.
std::vector<std::size_t> BoostedTreeBuilder::task_ends() const {
  if (block_ends_.size() > 1) return block_ends_;
  const std::size_t n_columns = codes_->columns().size();
  const std::size_t n_threads = parts_.size() + 1;
  const std::size_t n_tasks =
      std::min(n_columns, is_parallel() ? (n_parts_ == 0 ? 1 : 4) * n_threads : 1);
  std::vector<std::size_t> ends(n_tasks);
  for (std::size_t task = 0; task < n_tasks; ++task) ends[task] = (task + 1) * n_columns / n_tasks;
  return ends;
}

// Finishes the histogram of the first node, column by column, makes that of the second, whole less
// first, and searches both.
void BoostedTreeBuilder::search(Task& first, Task* second, const Histogram* whole) {
  const std::vector<std::size_t> ends = task_ends();
  begin_search();
  Histogram& mine = *first.node->histogram;
  const auto search_some = [&](std::size_t task, int thread) {
    const std::size_t begin = task == 0 ? 0 : ends[task - 1];
    const std::size_t end = ends[task];
    sum_own_columns(*first.node, begin, end, mine);
    for (std::size_t c = begin; c < end; ++c) {
      const auto [from, to] = cells_of(c);
      add_parts(c, mine);
      complete(c, *first.node, mine);
      if (second != nullptr) whole->subtract(mine, from, to, cell_width_, *second->node->histogram);
    }
    if (first.is_searched) search_columns(first, begin, end, thread, 0);
    if (second != nullptr && second->is_searched) search_columns(*second, begin, end, thread, 1);
  };
  parallel_for(is_parallel() ? context_.n_threads() : 1, ends.size(), search_some);
  if (first.is_searched) end_search(first, 0);
  if (second != nullptr && second->is_searched) end_search(*second, 1);
}

void BoostedTreeBuilder::decide(OpenNode& node) {
  if (node.best.split.found()) {
    const double before = node_score(node);
    const double gain = 0.5 * (node.best.split.score - before) - least_gain();
    node.can_be_split = gain > kRounding * std::abs(before);
    node.gain = node.improvement = node.can_be_split ? gain : 0.0;
  }
  if (node.forced >= 0 && !force(node)) node.forced = -1;
  // Counted without those that earlier nodes have left.
  if (!node.can_be_split || n_histograms_ - unused_.size() > most_histograms()) {
    give_back(std::move(node.histogram));
  }
}

// Puts the forced split of a node in the place of its best one. False where that cannot be: then its best
// one stays, and the splits below the forced one are no longer forced.
bool BoostedTreeBuilder::force(OpenNode& node) {
  const ForcedSplit& forced = options_.forced_splits[static_cast<std::size_t>(node.forced)];
  const std::size_t column = column_of(forced.feature);
  if (!may_be_split(node) || column == codes_->columns().size()) return false;
  Split split;
  split.feature = forced.feature;
  split.code =
      code_before(table_.columns[static_cast<std::size_t>(forced.feature)], forced.threshold);
  if (split.code == Split::kNoCode) return false;
  Sides best;
  for (const bool missing_left : {false, true}) {
    split.missing_left = missing_left;
    Sides sides = part(node, split, column);
    if (missing_left && !sides.split.saw_missing) break;
    if (sides.split.split.better_than(best.split.split)) best = std::move(sides);
  }
  if (!best.split.split.found()) return false;
  node.best = std::move(best.split);
  node.left_totals = std::move(best.left_totals);
  node.can_be_split = true;
  node.gain = std::max(0.5 * (node.best.split.score - node_score(node)), 0.0);
  node.improvement = std::numeric_limits<double>::infinity();
  return true;
}

double BoostedTreeBuilder::least_gain() const {
  return std::ldexp(options_.min_gain, -2 * units_.exponent);
}

std::size_t BoostedTreeBuilder::column_of(FeatureIndex feature) const {
  const auto& columns = codes_->columns();
  return static_cast<std::size_t>(
      std::find_if(columns.begin(), columns.end(),
                   [&](const auto& column) { return column.feature == feature; }) -
      columns.begin());
}

std::size_t BoostedTreeBuilder::most_histograms() const {
  return std::max<std::size_t>(
      kHistogramBytes / (sizeof(Packed) * std::max<std::size_t>(n_cells(), 1)), 2);
}

std::unique_ptr<Histogram> BoostedTreeBuilder::take_histogram(std::uint64_t n_rows) {
  std::unique_ptr<Histogram> histogram;
  if (unused_.empty()) {
    histogram = std::make_unique<Histogram>();
    ++n_histograms_;
  } else {
    histogram = std::move(unused_.back());
    unused_.pop_back();
  }
  histogram->resize(n_cells(), !fits_packed(n_rows));
  return histogram;
}

void BoostedTreeBuilder::give_back(std::unique_ptr<Histogram> histogram) {
  if (histogram != nullptr) unused_.push_back(std::move(histogram));
}

// The leaves in the order of their rows, which those of LeafRows are: from left to right. By their places, for
// a shard may have no row of some.
void BoostedTreeBuilder::list_leaves(LeafRows& leaves) {
  const std::vector<NodeIndex> places = preorder(tree_);
  const auto place_of = [&](const Leaf& leaf) { return places[static_cast<std::size_t>(leaf.id)]; };
  std::sort(leaves_.begin(), leaves_.end(),
            [&](const Leaf& a, const Leaf& b) { return place_of(a) < place_of(b); });
  for (const Leaf& leaf : leaves_) {
    leaves.leaves.push_back({place_of(leaf), leaf.begin, leaf.end,
                             std::ldexp(leaf.bounds.lower, units_.exponent),
                             std::ldexp(leaf.bounds.upper, units_.exponent)});
  }
}

TreeArrays BoostedTreeBuilder::flatten_tree() {
  rows_ = {};
  std::vector<TreeArrays> none;
  TreeArrays arrays = flatten(tree_, none, table_.n_features(), 1);
  arrays.impurity_exponent = 2 * units_.exponent;
  return arrays;
}

}  // namespace arboleda
