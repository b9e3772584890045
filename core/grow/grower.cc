#include "grow/grower.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "grow/frontier.h"

namespace arboleda {

namespace {

// Nodes of at most max(this, rows / (16 threads)) rows are grown as whole subtrees.
constexpr std::size_t kSubtreeRows = 512;

// Rows of nodes between two polls of the stop flag; a node takes as long as some rows more.
constexpr std::size_t kCheckedWork = std::size_t{1} << 12;
constexpr std::size_t kNodeWork = 32;

}  // namespace

std::vector<FeatureIndex> candidate_features(const BinnedDataset& table,
                                             const GrowthOptions& options) {
  if (!options.features.empty()) return options.features;
  std::vector<FeatureIndex> all(table.columns.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

SearchOptions search_options(const CriterionFacts& facts, const GrowthOptions& options,
                             std::uint64_t seed) {
  SearchOptions search;
  search.limits.min_rows = options.min_samples_leaf;
  search.limits.min_weight = options.min_weight_fraction_leaf * facts.total_weight;
  search.limits.is_monotonic = facts.is_ordered && !options.monotonic.empty();
  search.at_random = options.random_splits;
  search.seed = seed;
  search.tree = options.tree;
  search.monotonic = options.monotonic;
  return search;
}

Grower::Grower(const BinnedDataset& table, const RowLayouts& layouts,
               const TreeCriterion& criterion, const GrowthOptions& options, const Context& context)
    : table_(table),
      layouts_(layouts),
      criterion_(criterion),
      options_(options),
      context_(context),
      search_(search_options(criterion.facts, options_, context.seed())),
      features_(candidate_features(table, options)),
      node_search_(options_, features_.size(), context) {}

TreeArrays Grower::grow(std::vector<RowIndex>& rows, GrownTree& trunk,
                        std::vector<RowIndex>* leaf_rows, const SubtreeRoot* place) {
  rows_ = rows;
  const std::size_t work = rows.size() * table_.columns.size();
  n_threads_ = work >= kParallelWork ? context_.n_threads() : 1;
  make_workspaces();
  // One thread needs no subtrees.
  if (options_.policy == GrowthPolicy::depth_first && n_threads_ > 1) {
    subtree_rows_ =
        std::max(kSubtreeRows, rows.size() / (16 * static_cast<std::size_t>(n_threads_)));
  }
  trunk.clear();
  PendingNode root{0, rows.size(), 0, 0, 0};
  if (place != nullptr) {
    root.depth = place->depth;
    root.key = place->key;
    root.bounds = place->bounds;
  }
  root.features = workspaces_[0].sets.make(place != nullptr ? place->features : features_);
  grow_from(root, trunk, workspaces_[0], n_threads_);
  std::vector<TreeArrays> subtrees = grow_subtrees(work);
  rows_ = {};
  if (leaf_rows != nullptr) *leaf_rows = std::move(rows);
  rows = std::vector<RowIndex>();
  const CriterionFacts& facts = criterion_.facts;
  TreeArrays arrays = flatten(trunk, subtrees, table_.n_features(), facts.n_outputs);
  for (auto& weight : arrays.weight) weight *= facts.weight_unit;
  arrays.impurity_exponent = facts.impurity_exponent;
  return arrays;
}

void Grower::make_workspaces() {
  workspaces_.clear();
  for (int i = 0; i < n_threads_; ++i) {
    workspaces_.emplace_back(criterion_.make(table_, layouts_, search_), table_.columns.size(),
                             features_);
  }
}

// The loop.
void Grower::grow_from(const PendingNode& root, GrownTree& tree, GrowthWorkspace& workspace,
                       int n_threads) {
  if (options_.policy == GrowthPolicy::depth_first) {
    return grow_depth_first(root, tree, workspace, n_threads);
  }
  OpenedNode opened;
  Frontier<OpenedNode> frontier(options_.policy);
  const auto add = [&](const PendingNode& pending) {
    const auto id = static_cast<NodeIndex>(tree.nodes.size());
    if (open(pending, tree, workspace, n_threads, opened)) frontier.push(opened);
    return id;
  };
  add(root);
  grow_nodes(frontier, options_.max_leaf_nodes, [&](const OpenedNode& node, bool) {
    const NodeIndex left = add(node.left);
    const NodeIndex right = add(node.right);
    auto& parent = tree.nodes[static_cast<std::size_t>(node.id)];
    parent.left = left;
    parent.right = right;
  });
}

// Depth first, nodes are opened in preorder: a left child right after its parent.
void Grower::grow_depth_first(const PendingNode& root, GrownTree& tree, GrowthWorkspace& workspace,
                              int n_threads) {
  OpenedNode opened;
  tree.in_preorder = true;
  auto& waiting = workspace.waiting;
  waiting.assign(1, {root, -1});
  while (!waiting.empty()) {
    const auto [pending, right_of] = waiting.back();
    waiting.pop_back();
    const auto id = static_cast<NodeIndex>(tree.nodes.size());
    if (right_of >= 0) tree.nodes[static_cast<std::size_t>(right_of)].right = id;
    if (!open(pending, tree, workspace, n_threads, opened)) continue;
    tree.nodes[static_cast<std::size_t>(id)].left = id + 1;
    waiting.push_back({opened.right, id});
    waiting.push_back({opened.left, -1});
  }
}

// n_cells: of the whole tree.
std::vector<TreeArrays> Grower::grow_subtrees(std::size_t n_cells) {
  if (set_aside_.empty()) return {};
  const ColumnSets sets = std::move(workspaces_[0].sets);
  make_workspaces();  // what the large nodes needed, the subtrees do not
  return_free_memory(n_cells);
  // The largest first, so that the last ones to finish are small.
  std::vector<std::size_t> order(set_aside_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return set_aside_[a].end - set_aside_[a].begin > set_aside_[b].end - set_aside_[b].begin;
  });
  subtree_rows_ = 0;
  std::vector<TreeArrays> subtrees(set_aside_.size());
  parallel_for(n_threads_, order.size(), [&](std::size_t task, int worker) {
    const std::size_t i = order[task];
    GrowthWorkspace& workspace = workspaces_[static_cast<std::size_t>(worker)];
    PendingNode root = set_aside_[i];
    root.features = workspace.sets.copy_of(sets, root.features);
    GrownTree tree;
    grow_from(root, tree, workspace, 1);
    std::vector<TreeArrays> none;
    subtrees[i] = flatten(tree, none, table_.n_features(), criterion_.facts.n_outputs);
  });
  return subtrees;
}

// Adds a node to the tree. True if it can be split: `opened` then holds its children.
bool Grower::open(PendingNode pending, GrownTree& tree, GrowthWorkspace& workspace, int n_threads,
                  OpenedNode& opened) {
  check_now_and_then(pending.end - pending.begin, workspace);
  const auto rows = rows_of(pending);
  if (rows.size() <= subtree_rows_) {
    tree.nodes.push_back({.subtree = static_cast<std::int32_t>(set_aside_.size())});
    tree.values.resize(tree.values.size() + criterion_.facts.n_outputs);
    set_aside_.push_back(pending);
    return false;
  }
  Splitter& splitter = *workspace.splitter;
  splitter.measure(rows);
  record(rows, pending.bounds, splitter, tree);
  if (is_terminal(pending, rows.size(), tree.nodes.back().weight, splitter) ||
      !split(pending, tree, workspace, n_threads, opened)) {
    workspace.sets.release(pending.features);
    return false;
  }
  return true;
}

// Splits the node that was opened last, if it can be: its children take over its set of features.
bool Grower::split(PendingNode& pending, GrownTree& tree, GrowthWorkspace& workspace, int n_threads,
                   OpenedNode& opened) {
  const auto rows = rows_of(pending);
  workspace.splitter->begin_search(pending.key, pending.bounds);
  node_search_.find(rows, pending, workspace, n_threads > 1 ? &workspaces_ : nullptr);
  const Split& split = workspace.best;
  if (!split.found()) return false;

  const CodedColumn& column = table_.columns[static_cast<std::size_t>(split.feature)];
  const Partition partition = partition_rows(column, layouts_, split, rows, workspace.partition);
  auto& node = tree.nodes.back();
  node.feature = split.feature;
  // A side for missing values that the node never saw: the larger child.
  node.missing_left = partition.n_missing > 0 ? split.missing_left
                                              : partition.n_left > rows.size() - partition.n_left;
  if (column.is_categorical) {
    const auto others =
        node.missing_left ? rows.subspan(partition.n_left) : rows.first(partition.n_left);
    const auto categories = categories_among(column, others, workspace.partition);
    node.category_begin = tree.categories.size();
    tree.categories.insert(tree.categories.end(), categories.begin(), categories.end());
    node.category_end = tree.categories.size();
  } else {
    node.threshold = threshold_between(column, split, partition);
  }
  const bool measures_improvement =
      options_.policy == GrowthPolicy::best_first || options_.min_impurity_decrease > 0.0;
  const double improvement =
      measures_improvement ? impurity_decrease(node, rows, partition.n_left, *workspace.splitter)
                           : 0.0;
  if (options_.min_impurity_decrease > 0.0 &&
      std::ldexp(improvement, criterion_.facts.impurity_exponent) + kImpurityTolerance <
          options_.min_impurity_decrease) {
    return false;
  }

  const std::size_t middle = pending.begin + partition.n_left;
  const auto features = workspace.sets.share(pending.features);
  opened = {
      static_cast<NodeIndex>(tree.nodes.size() - 1),
      {pending.begin, middle, pending.depth + 1, child_key(pending.key, true), pending.features},
      {middle, pending.end, pending.depth + 1, child_key(pending.key, false), features},
      improvement};
  if (search_.limits.is_monotonic) bound_children(pending, split, workspace, opened);
  return true;
}

// Where the feature has a direction, all predictions below one child stay on this side of the middle
// between the children's, and those below the other on that side.
void Grower::bound_children(const PendingNode& pending, const Split& split,
                            GrowthWorkspace& workspace, OpenedNode& opened) const {
  opened.left.bounds = pending.bounds;
  opened.right.bounds = pending.bounds;
  const int direction = options_.monotonic[static_cast<std::size_t>(split.feature)];
  if (direction == 0 || split.next_code == Split::kNoCode) return;
  Splitter& splitter = *workspace.splitter;
  const double left = pending.bounds.clamped(splitter.ordered_value(rows_of(opened.left)));
  const double right = pending.bounds.clamped(splitter.ordered_value(rows_of(opened.right)));
  const double middle = std::midpoint(left, right);
  (direction > 0 ? opened.left : opened.right).bounds.upper = middle;
  (direction > 0 ? opened.right : opened.left).bounds.lower = middle;
}

void Grower::record(std::span<const RowIndex> rows, const Bounds& bounds, const Splitter& splitter,
                    GrownTree& tree) const {
  const std::size_t start = tree.values.size();
  tree.values.resize(start + criterion_.facts.n_outputs);
  const NodeSummary node = splitter.summarize(bounds, &tree.values[start]);
  tree.nodes.push_back({.impurity = node.impurity,
                        .n_rows = static_cast<std::int64_t>(rows.size()),
                        .weight = node.weight});
}

bool Grower::is_terminal(const PendingNode& pending, std::size_t n_rows, double weight,
                         const Splitter& splitter) const {
  return pending.depth >= options_.max_depth || n_rows < options_.min_samples_split ||
         n_rows < 2 * options_.min_samples_leaf || weight < 2 * search_.limits.min_weight ||
         splitter.is_pure();
}

// Polling the stop flag takes longer than growing a small node.
void Grower::check_now_and_then(std::size_t n_rows, GrowthWorkspace& workspace) const {
  workspace.unchecked += n_rows + kNodeWork;
  if (workspace.unchecked < kCheckedWork) return;
  workspace.unchecked = 0;
  context_.check();
}

// N_t/N (impurity - N_L/N_t impurity_L - N_R/N_t impurity_R), in the unit of the impurities
double Grower::impurity_decrease(const GrownNode& node, std::span<const RowIndex> rows,
                                 std::size_t n_left, Splitter& splitter) const {
  double decrease = node.weight * node.impurity;
  for (const auto part : {rows.first(n_left), rows.subspan(n_left)}) {
    const NodeSummary side = splitter.measure_part(part);
    decrease -= side.weight * side.impurity;
  }
  return decrease / criterion_.facts.total_weight;
}

}  // namespace arboleda
