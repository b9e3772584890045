// Grows one tree. The loop is the textbook's:
//
//   open the root
//   while a node waits in the frontier: take it; open its left and its right child
//
// Opening a node measures its rows, decides whether it may be split, finds the best split,
// partitions its rows, and puts it in the frontier. Only the frontier depends on the growth policy, and
// only the splitter on the criterion.
//
// Threads: features of large nodes are searched in parallel; small nodes of a depth-first tree are
// set aside and grown as whole subtrees in parallel, each by this same loop. No result depends on
// who did what: scores come from exact sums, ties from a total order, randomness from the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "grow/grown_tree.h"
#include "grow/growth_options.h"
#include "grow/growth_workspace.h"
#include "grow/node_search.h"
#include "grow/row_partition.h"
#include "grow/shared_criterion.h"
#include "grow/splitter.h"
#include "grow/subtree.h"
#include "layout/row_layouts.h"
#include "split/search_options.h"
#include "tree/tree.h"

namespace arboleda {

// What is the same in all nodes; criterion/moments.h has the meaning of each.
struct CriterionFacts {
  std::size_t n_outputs;
  double total_weight, weight_unit;
  int impurity_exponent;
  bool is_ordered, sums_binary_features;
  // Over shards: the search of the whole table would score binary features, if only the score decides.
  bool scores_binary_features = false;
};

// A criterion as the grower sees it. make: a splitter of the table and the layouts for one thread.
// make_shared: the same over shards; null for a criterion whose statistic is not a sum.
struct TreeCriterion {
  CriterionFacts facts;
  std::function<std::unique_ptr<Splitter>(const BinnedDataset&, const RowLayouts&,
                                          const SearchOptions&)>
      make;
  std::function<std::unique_ptr<SharedCriterion>(const BinnedDataset&, const SearchOptions&)>
      make_shared;
};

// The features that a tree may be split on.
std::vector<FeatureIndex> candidate_features(const BinnedDataset& table,
                                             const GrowthOptions& options);

// What the search of its splits may do. The options must outlive it.
SearchOptions search_options(const CriterionFacts& facts, const GrowthOptions& options,
                             std::uint64_t seed);

// A decrease of impurity this much below the minimum still counts as reaching it (scikit-learn).
inline constexpr double kImpurityTolerance = std::numeric_limits<double>::epsilon();

class Grower {
 public:
  // layouts: of this table; may be empty.
  Grower(const BinnedDataset& table, const RowLayouts& layouts, const TreeCriterion& criterion,
         const GrowthOptions& options, const Context& context);

  // rows: the training rows, ascending, all of positive weight, at least one; used up. leaf_rows:
  // takes them in the end if it is wanted, those of each leaf together, in the order of leaves.
  // trunk: room for nodes. place: of a subtree in its tree, or null for a whole tree.
  TreeArrays grow(std::vector<RowIndex>& rows, GrownTree& trunk,
                  std::vector<RowIndex>* leaf_rows = nullptr, const SubtreeRoot* place = nullptr);

 private:
  void make_workspaces();
  void grow_from(const PendingNode& root, GrownTree& tree, GrowthWorkspace& workspace,
                 int n_threads);
  void grow_depth_first(const PendingNode& root, GrownTree& tree, GrowthWorkspace& workspace,
                        int n_threads);
  std::vector<TreeArrays> grow_subtrees(std::size_t n_cells);
  bool open(PendingNode pending, GrownTree& tree, GrowthWorkspace& workspace, int n_threads,
            OpenedNode& opened);
  bool split(PendingNode& pending, GrownTree& tree, GrowthWorkspace& workspace, int n_threads,
             OpenedNode& opened);
  void bound_children(const PendingNode& pending, const Split& split, GrowthWorkspace& workspace,
                      OpenedNode& opened) const;
  void record(std::span<const RowIndex> rows, const Bounds& bounds, const Splitter& splitter,
              GrownTree& tree) const;
  bool is_terminal(const PendingNode& pending, std::size_t n_rows, double weight,
                   const Splitter& splitter) const;
  void check_now_and_then(std::size_t n_rows, GrowthWorkspace& workspace) const;
  double impurity_decrease(const GrownNode& node, std::span<const RowIndex> rows,
                           std::size_t n_left, Splitter& splitter) const;
  std::span<RowIndex> rows_of(const PendingNode& pending) const {
    return rows_.subspan(pending.begin, pending.end - pending.begin);
  }

  const BinnedDataset& table_;
  const RowLayouts& layouts_;
  const TreeCriterion& criterion_;
  const GrowthOptions options_;
  const Context& context_;
  SearchOptions search_;
  const std::vector<FeatureIndex> features_;  // candidates for a split
  const NodeSearch node_search_;
  std::span<RowIndex> rows_;
  int n_threads_ = 1;
  std::size_t subtree_rows_ = 0;
  std::deque<GrowthWorkspace> workspaces_;  // one a thread; they stay where they are
  std::vector<PendingNode> set_aside_;
};

}  // namespace arboleda
