// Grows one tree from the rows of all shards of a table: the same in each, and that of the whole table.
//
// Every shard has the tree, and its own rows of each node. Large nodes are opened a level at a time, or, best
// first, two siblings at a time:
//
//   measure the nodes           their cells, of all shards            (grow/shared_criterion.h)
//   record them; of those that can be split: the cells of all candidate columns, of all shards
//   find the best splits in these cells; part the own rows; measure the children
//
// Numbers of rows, thresholds and categories follow from the cells of all shards, never from the own rows.
// Nodes of few rows are set aside. Their rows are sent, and each shard grows some of the subtrees as a tree of
// a whole table is grown; all get the nodes of all. The order in which nodes are opened changes nothing: scores
// come from exact sums, ties from a total order, randomness from the path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/shards.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/grower.h"
#include "grow/grown_tree.h"
#include "grow/growth_options.h"
#include "grow/row_partition.h"
#include "grow/shared_criterion.h"
#include "grow/shared_draw.h"
#include "grow/subtree.h"
#include "grow/subtree_sender.h"
#include "split/column_sets.h"
#include "split/search_options.h"
#include "tree/tree.h"

namespace arboleda {

class ShardedGrower {
 public:
  // The context has the shards. All must outlive this.
  ShardedGrower(const BinnedDataset& table, const FixedWeights& weights,
                const TreeCriterion& criterion, const SentTargets& targets,
                const GrowthOptions& options, const Context& context);

  // rows: of this shard, ascending, all of positive weight; in all shards together at least one.
  TreeArrays grow(std::vector<RowIndex>& rows);

 private:
  struct Node {
    PendingNode pending;
    SharedNode all;  // of all shards
  };
  struct Children {
    Node left, right;
    NodeIndex id = -1;  // of the parent
    double improvement = 0.0;
  };
  // Of a node that waits, best first.
  struct Waiting {
    double improvement;
    NodeIndex id;
    std::unique_ptr<Children> children;
  };
  // A node that is searched.
  struct Search {
    Node* node;
    NodeIndex id;
    std::vector<FeatureIndex> features;  // whose cells are in words_,
    std::size_t first_word;              // from there on, feature after feature
    Split best;
  };

  void grow_levels(Node root);
  void grow_best_first(Node root);
  std::vector<Children> open(std::span<Node> nodes);
  void record(const Node& node);
  bool is_terminal(const Node& node) const;

  void measure(std::span<Node* const> nodes);
  void share_ranges(std::span<Node* const> nodes) const;
  void share_spreads(std::span<Node* const> nodes);

  void split(std::span<Search> searches, std::vector<Children>& opened);
  void find_splits(std::span<Search> searches);
  CellsOfNode begin_search(Search& search, SharedCriterion& cells,
                           std::vector<FeatureIndex>& constant);
  void remove(std::span<const FeatureIndex> constant, Search& search);
  void fill(std::span<Search* const> searches);
  bool varies(const Search& search, FeatureIndex feature) const;
  std::size_t count_words(FeatureIndex feature) const;
  const std::uint64_t* cells_of(const Search& search, FeatureIndex feature) const;

  Children make_children(const Search& search);
  bool confirm(const Search& search, Children& children);
  void bound_children(const Search& search, Children& children) const;
  std::vector<TreeArrays> grow_subtrees();

  template <class Visit>
  void for_blocks(const PendingNode& node, SharedCriterion& cells, const Visit& visit) const;
  template <class Body>
  void for_tasks(std::size_t n, const Body& body);
  std::span<RowIndex> rows_of(const PendingNode& pending) const {
    return rows_.subspan(pending.begin, pending.end - pending.begin);
  }

  const BinnedDataset& table_;
  const TreeCriterion& criterion_;
  const GrowthOptions options_;
  const Context& context_;
  const Shards& shards_;
  const SearchOptions search_;
  const std::vector<FeatureIndex> features_;  // candidates for a split
  const SubtreeSender sender_;
  ColumnSets sets_;
  SharedDraw draw_;
  std::vector<std::unique_ptr<SharedCriterion>> cells_;  // one a thread
  std::size_t n_words_ = 0;                              // of a cell
  std::vector<std::uint64_t> words_;  // of the cells of the nodes that are searched
  std::span<RowIndex> rows_;
  GrownTree trunk_;
  PartitionScratch partition_;
  std::vector<PendingNode> set_aside_;
};

}  // namespace arboleda
