// The nodes of a boosted tree while it grows: opening a node's children partitions its rows, builds their
// histograms and finds their best splits. The order of opening is the caller's.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "grow/grown_tree.h"
#include "grow/parallel_partition.h"
#include "layout/row_codes.h"
#include "split/column_choice.h"
#include "split/histogram.h"
#include "split/histogram_options.h"
#include "split/histogram_search.h"
#include "split/level_search.h"
#include "split/packed_gradients.h"
#include "tree/leaf_rows.h"

namespace arboleda {

// Cells to look at from which a second thread pays.
inline constexpr std::size_t kParallelCells = std::size_t{1} << 12;

// A gain must exceed this share of the node's score: less is rounding.
inline constexpr double kRounding = 1e-12;

// A node that was opened.
struct OpenNode {
  NodeIndex id = -1;
  std::size_t begin = 0, end = 0;  // its rows
  BoostedNode node;
  std::shared_ptr<const ColumnChoice::Groups> groups;  // of columns that may still meet
  BoostedSplit best;
  bool can_be_split = false;             // by `best`
  double improvement = 0.0;              // its gain
  std::unique_ptr<Histogram> histogram;  // kept for its larger child, where there is room

  std::size_t n_rows() const { return end - begin; }
};

class HistogramTreeBuilder {
 public:
  HistogramTreeBuilder(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                       const HistogramOptions& options, const Context& context);

  void begin_tree(std::span<const RowIndex> rows, std::span<const double> gradient,
                  std::span<const double> hessian, std::uint32_t tree, LeafRows& leaves);

  OpenNode open_root();

  // is_last: no node will be split after this one.
  std::pair<OpenNode, OpenNode> open_children(OpenNode parent, bool is_last);

  // Symmetric trees: finds the one split of all these nodes, none of which was searched yet, and marks
  // those that it splits. False if there is none.
  bool search_level(std::vector<OpenNode>& level, std::int32_t depth);

  // A node that stays a leaf.
  void close(OpenNode node);

  TreeArrays end_tree(std::span<const double> gradient, std::span<const double> hessian,
                      LeafRows& leaves);

 private:
  struct Found {
    Split best;
    std::vector<std::pair<double, std::size_t>> unsure;  // score and column of better ones
  };
  struct Worker {
    Worker(const BinnedDataset& table, const HistogramOptions& options)
        : search(table, options), level_search(table, options, search) {}
    HistogramSearch search;
    LevelSearch level_search;
    std::array<Found, 2> found;
    Split of_level;
    std::vector<std::pair<double, std::size_t>> level_scores;  // of the columns it searched
  };
  struct Task {
    OpenNode* node = nullptr;
    bool is_searched = false;
    ColumnChoice::Columns columns;  // to be searched
  };
  struct Leaf {
    NodeIndex id;
    std::size_t begin, end;
    LeafBounds bounds;
  };

  NodeIndex add_node(const BoostedNode& node);
  bool may_be_split(const OpenNode& node) const;
  void split_node(const OpenNode& parent, std::size_t n_left);
  void set_bounds(const OpenNode& parent, OpenNode& left, OpenNode& right) const;
  void open(OpenNode& smaller, OpenNode* larger, std::unique_ptr<Histogram> parent);
  void build(const OpenNode& node, Histogram& histogram);
  void search(Task& first, Task* second, const Histogram* whole);
  void search_columns(const Task& task, std::size_t begin, std::size_t end, HistogramSearch& search,
                      Found& found) const;
  void confirm_split(Task& task, std::size_t which);
  void count_rows(const OpenNode& node, const RowCodes::Column& column);
  void decide(OpenNode& node);
  const RowCodes::Column& column_of(FeatureIndex feature) const;
  bool leaves_rows(const OpenNode& node, const BoostedSplit& split, const RowCodes::Column& column);
  Split search_all(std::span<const LevelNode> level, std::int32_t depth,
                   const ColumnChoice::Groups& groups);
  Split confirm_level_splits(std::span<const OpenNode> open, std::span<LevelNode> level);
  bool is_certain(std::span<const LevelNode> level, const Split& split) const;
  double least_gain() const { return std::ldexp(options_.min_gain, -2 * units_.exponent); }
  bool is_symmetric() const { return options_.growth == BoostedGrowth::symmetric; }
  std::size_t most_histograms() const;
  std::unique_ptr<Histogram> take_histogram(std::size_t n_rows);
  void give_back(std::unique_ptr<Histogram> histogram);

  const BinnedDataset& table_;
  const std::shared_ptr<const RowCodes> codes_;
  const HistogramOptions options_;
  const Context& context_;
  ColumnChoice columns_;
  PackedGradients gradients_;
  ParallelPartition partition_;
  std::deque<Worker> workers_;
  std::vector<Histogram> parts_;                    // of the other threads
  std::vector<std::unique_ptr<Histogram>> unused_;  // histograms to be used again
  std::size_t n_histograms_ = 0;                    // that exist
  std::size_t n_parts_ = 1;                         // of the histogram being made
  SearchUnits units_;
  std::span<RowIndex> rows_;
  bool all_rows_ = false;  // rows_ is 0, 1, 2, ... as the root has it
  GrownTree tree_;
  std::vector<Leaf> leaves_;
  std::vector<Code> gathered_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace arboleda
