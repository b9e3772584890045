// Grows one tree. The loop is the textbook's:
//
//   open the root
//   while a node waits in the frontier: take it; open its left and its right child
//
// Opening a node measures its rows, decides whether it may be split, finds the best split,
// partitions its rows, and puts it in the frontier. Only the frontier depends on the growth policy.
//
// Threads: features of large nodes are searched in parallel; small nodes of a depth-first tree are
// set aside and grown as whole subtrees in parallel, each by this same loop. No result depends on
// who did what: scores come from exact sums, ties from a total order, randomness from the path.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/binned_dataset.h"
#include "grow/frontier.h"
#include "grow/grown_tree.h"
#include "grow/growth_options.h"
#include "grow/growth_workspace.h"
#include "grow/node_search.h"
#include "grow/row_partition.h"
#include "layout/row_layouts.h"

namespace arboleda {

// A decrease of impurity this much below the minimum still counts as reaching it (scikit-learn).
inline constexpr double kImpurityTolerance = std::numeric_limits<double>::epsilon();

// Nodes of at most max(this, rows / (16 threads)) rows are grown as whole subtrees.
inline constexpr std::size_t kSubtreeRows = 512;

// Rows of nodes between two polls of the stop flag; a node takes as long as some rows more.
inline constexpr std::size_t kCheckedWork = std::size_t{1} << 12;
inline constexpr std::size_t kNodeWork = 32;

template <class Criterion>
class Grower {
 public:
  // layouts: of this table; may be empty.
  Grower(const BinnedDataset& table, const RowLayouts& layouts, const Criterion& criterion,
         const GrowthOptions& options, const Context& context)
      : table_(table),
        layouts_(layouts),
        criterion_(criterion),
        options_(options),
        context_(context),
        features_(all_features()),
        node_search_(options_, features_.size(), context) {
    search_.limits.min_rows = options.min_samples_leaf;
    search_.limits.min_weight = options.min_weight_fraction_leaf * criterion.total_weight();
    search_.at_random = options.random_splits;
    search_.seed = context.seed();
    search_.tree = options.tree;
    search_.monotonic = options_.monotonic;
    search_.limits.is_monotonic = criterion.is_ordered() && !options.monotonic.empty();
  }

  // rows: the training rows, ascending, all of positive weight, at least one; used up. leaf_rows:
  // takes them in the end if it is wanted, those of each leaf together, in the order of leaves.
  // trunk: room for nodes.
  TreeArrays grow(std::vector<RowIndex>& rows, GrownTree& trunk,
                  std::vector<RowIndex>* leaf_rows = nullptr) {
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
    const ColumnSets::Id all = workspaces_[0].sets.make(features_);
    grow_from({0, rows.size(), 0, 0, all}, trunk, workspaces_[0], n_threads_);
    std::vector<TreeArrays> subtrees = grow_subtrees(rows.size() * table_.columns.size());
    rows_ = {};
    if (leaf_rows != nullptr) *leaf_rows = std::move(rows);
    rows = std::vector<RowIndex>();
    TreeArrays arrays = flatten(trunk, subtrees, table_.n_features(), criterion_.n_outputs());
    for (auto& weight : arrays.weight) weight *= criterion_.weight_unit();
    arrays.impurity_exponent = criterion_.impurity_exponent();
    return arrays;
  }

 private:
  using Slot = typename Criterion::Slot;
  static constexpr bool kCanBeOrdered = requires { Criterion::kOrderedOutput; };

  using Workspace = GrowthWorkspace<Criterion>;

  // The loop. Depth first, nodes are opened in preorder: a left child right after its parent.
  void grow_from(const PendingNode& root, GrownTree& tree, Workspace& workspace, int n_threads) {
    OpenedNode opened;
    if (options_.policy != GrowthPolicy::depth_first) {
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
      return;
    }
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

  std::vector<FeatureIndex> all_features() const {
    if (!options_.features.empty()) return options_.features;
    std::vector<FeatureIndex> all(table_.columns.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  void make_workspaces() {
    workspaces_.clear();
    for (int i = 0; i < n_threads_; ++i) {
      workspaces_.emplace_back(table_, layouts_, criterion_, search_, features_);
    }
  }

  // n_cells: of the whole tree.
  std::vector<TreeArrays> grow_subtrees(std::size_t n_cells) {
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
      Workspace& workspace = workspaces_[static_cast<std::size_t>(worker)];
      PendingNode root = set_aside_[i];
      root.features = workspace.sets.copy_of(sets, root.features);
      GrownTree tree;
      grow_from(root, tree, workspace, 1);
      std::vector<TreeArrays> none;
      subtrees[i] = flatten(tree, none, table_.n_features(), criterion_.n_outputs());
    });
    return subtrees;
  }

  // Adds a node to the tree. True if it can be split: `opened` then holds its children.
  bool open(PendingNode pending, GrownTree& tree, Workspace& workspace, int n_threads,
            OpenedNode& opened) {
    check_now_and_then(pending.end - pending.begin, workspace);
    const auto rows = rows_.subspan(pending.begin, pending.end - pending.begin);
    if (rows.size() <= subtree_rows_) {
      tree.nodes.push_back({.subtree = static_cast<std::int32_t>(set_aside_.size())});
      tree.values.resize(tree.values.size() + criterion_.n_outputs());
      set_aside_.push_back(pending);
      return false;
    }
    measure(rows, workspace.local, workspace.total);
    record(rows, pending.bounds, workspace, tree);
    if (is_terminal(pending, rows.size(), tree.nodes.back().weight, workspace) ||
        !split(pending, tree, workspace, n_threads, opened)) {
      workspace.sets.release(pending.features);
      return false;
    }
    return true;
  }

  // Splits the node that was opened last, if it can be: its children take over its set of features.
  bool split(PendingNode& pending, GrownTree& tree, Workspace& workspace, int n_threads,
             OpenedNode& opened) {
    const auto rows = rows_.subspan(pending.begin, pending.end - pending.begin);
    const NodeView<Criterion> view{rows, workspace.local, workspace.total.data(), pending.key,
                                   in_units(pending.bounds)};
    node_search_.find(view, pending, workspace, n_threads > 1 ? &workspaces_ : nullptr);
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
    const double improvement =
        measures_improvement() ? impurity_decrease(node, rows, partition.n_left, workspace) : 0.0;
    if (options_.min_impurity_decrease > 0.0 &&
        std::ldexp(improvement, criterion_.impurity_exponent()) + kImpurityTolerance <
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
    bound_children(pending, split, workspace, opened);
    return true;
  }

  // Where the feature has a direction, all predictions below one child stay on this side of the middle
  // between the children's, and those below the other on that side.
  void bound_children(const PendingNode& pending, const Split& split, Workspace& workspace,
                      OpenedNode& open) {
    if constexpr (kCanBeOrdered) {
      if (!search_.limits.is_monotonic) return;
      open.left.bounds = pending.bounds;
      open.right.bounds = pending.bounds;
      const int direction = options_.monotonic[static_cast<std::size_t>(split.feature)];
      if (direction == 0 || split.next_code == Split::kNoCode) return;
      const double left = pending.bounds.clamped(ordered_value(open.left, workspace));
      const double right = pending.bounds.clamped(ordered_value(open.right, workspace));
      const double middle = std::midpoint(left, right);
      (direction > 0 ? open.left : open.right).bounds.upper = middle;
      (direction > 0 ? open.right : open.left).bounds.lower = middle;
    }
  }

  double ordered_value(const PendingNode& pending, Workspace& workspace) const {
    const auto rows = rows_.subspan(pending.begin, pending.end - pending.begin);
    measure(rows, workspace.part_local, workspace.part);
    std::vector<double> value(criterion_.n_outputs());
    criterion_.value(rows, workspace.part_local, workspace.part.data(), value.data());
    return value[Criterion::kOrderedOutput];
  }

  Bounds in_units(const Bounds& bounds) const {
    if constexpr (kCanBeOrdered) {
      if (search_.limits.is_monotonic) {
        return {criterion_.to_units(bounds.lower), criterion_.to_units(bounds.upper)};
      }
    }
    return {};
  }

  void measure(std::span<const RowIndex> rows, typename Criterion::Local& local,
               std::vector<Slot>& total) const {
    criterion_.gather(rows, local);
    criterion_.sum(local, total.data());
  }

  void record(std::span<const RowIndex> rows, const Bounds& bounds, const Workspace& workspace,
              GrownTree& tree) const {
    const Slot* total = workspace.total.data();
    tree.nodes.push_back({.impurity = criterion_.impurity(workspace.local, total),
                          .n_rows = static_cast<std::int64_t>(rows.size()),
                          .weight = criterion_.weight(total)});
    const std::size_t start = tree.values.size();
    tree.values.resize(start + criterion_.n_outputs());
    double* value = &tree.values[start];
    criterion_.value(rows, workspace.local, total, value);
    if constexpr (kCanBeOrdered) {
      if (!search_.limits.is_monotonic) return;
      const double ordered = value[Criterion::kOrderedOutput];
      if (!bounds.hold(ordered)) criterion_.set_ordered(bounds.clamped(ordered), value);
    }
  }

  bool is_terminal(const PendingNode& pending, std::size_t n_rows, double weight,
                   const Workspace& workspace) const {
    return pending.depth >= options_.max_depth || n_rows < options_.min_samples_split ||
           n_rows < 2 * options_.min_samples_leaf || weight < 2 * search_.limits.min_weight ||
           criterion_.is_pure(workspace.local, workspace.total.data());
  }

  // Polling the stop flag takes longer than growing a small node.
  void check_now_and_then(std::size_t n_rows, Workspace& workspace) const {
    workspace.unchecked += n_rows + kNodeWork;
    if (workspace.unchecked < kCheckedWork) return;
    workspace.unchecked = 0;
    context_.check();
  }

  bool measures_improvement() const {
    return options_.policy == GrowthPolicy::best_first || options_.min_impurity_decrease > 0.0;
  }

  // N_t/N (impurity - N_L/N_t impurity_L - N_R/N_t impurity_R), in the unit of the impurities
  double impurity_decrease(const GrownNode& node, std::span<const RowIndex> rows,
                           std::size_t n_left, Workspace& workspace) const {
    double decrease = node.weight * node.impurity;
    for (const auto part : {rows.first(n_left), rows.subspan(n_left)}) {
      measure(part, workspace.part_local, workspace.part);
      const Slot* total = workspace.part.data();
      decrease -= criterion_.weight(total) * criterion_.impurity(workspace.part_local, total);
    }
    return decrease / criterion_.total_weight();
  }

  const BinnedDataset& table_;
  const RowLayouts& layouts_;
  const Criterion& criterion_;
  const GrowthOptions options_;
  const Context& context_;
  SearchOptions search_;
  const std::vector<FeatureIndex> features_;  // candidates for a split
  const NodeSearch<Criterion> node_search_;
  std::span<RowIndex> rows_;
  int n_threads_ = 1;
  std::size_t subtree_rows_ = 0;
  std::deque<Workspace> workspaces_;  // one a thread; they stay where they are
  std::vector<PendingNode> set_aside_;
};

}  // namespace arboleda
