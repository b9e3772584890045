// The nodes of a boosted tree while it grows: opening a node's children partitions its rows, makes their
// histograms and finds their best splits. The order of opening is the caller's. What a histogram holds, and
// how a split of it is scored, is left to derived classes: of one output, of several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/shards.h"
#include "data/binned_dataset.h"
#include "grow/grown_tree.h"
#include "grow/parallel_partition.h"
#include "layout/row_codes.h"
#include "split/column_choice.h"
#include "split/histogram.h"
#include "split/histogram_options.h"
#include "split/histogram_search.h"
#include "tree/leaf_rows.h"

namespace arboleda {

// Cells to look at, and rows to part, from which a second thread pays.
inline constexpr std::size_t kParallelCells = std::size_t{1} << 12;
inline constexpr std::size_t kParallelRows = std::size_t{1} << 14;

// A gain must exceed this share of the node's score: less is rounding.
inline constexpr double kRounding = 1e-12;

// Squares of gradients stay within float64 for exponents up to this.
inline constexpr int kUsualExponent = 300;

// A node that was opened.
struct OpenNode {
  OpenNode();
  OpenNode(OpenNode&& other) noexcept;
  OpenNode& operator=(OpenNode&& other) noexcept;
  ~OpenNode();

  NodeIndex id = -1;
  std::size_t begin = 0, end = 0;  // its rows of this shard; `node` counts those of all
  BoostedNode node;
  std::vector<Wide> totals;  // of several outputs (split/vector_gradients.h), or empty
  std::shared_ptr<const ColumnChoice::Groups> groups;  // of columns that may still meet
  BoostedSplit best;
  std::vector<std::pair<double, std::size_t>>
      unsure;                     // score and column of better splits, if allowed
  std::vector<Wide> left_totals;  // of the left side of `best`, or empty
  std::vector<CategoryIndex>
      categories;             // of all shards, of the side without missing rows, once parted
  bool can_be_split = false;  // by `best`
  double gain = 0.0;          // of `best`
  double improvement = 0.0;   // the same; of forced splits infinity: they come first
  std::int32_t forced = -1;   // number of its forced split, or -1
  std::unique_ptr<Histogram> histogram;  // kept for its larger child, where there is room
  std::unique_ptr<std::pair<OpenNode, OpenNode>> ahead;  // its children, opened before their turn

  std::size_t n_own_rows() const { return end - begin; }
};

class BoostedTreeBuilder {
 public:
  BoostedTreeBuilder(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                     const HistogramOptions& options, const Context& context);
  virtual ~BoostedTreeBuilder() = default;

  OpenNode open_root();

  // Whether nodes are opened together where possible: the codes lie in a file that is read from
  // beginning to end, once for all of them; or shards wait for each other, once for all of them.
  bool opens_ahead() const { return is_shared() || is_swept(); }

  // Whether shards wait for each other; all of them decide alike, whether they sweep or not.
  bool is_shared() const { return context_.shards() != nullptr; }

  // Opens the children of nodes that may be split next, so that open_children() finds them. The tree does
  // not change by it: children that are not needed are forgotten.
  // are_last: none of the children will be split.
  void open_ahead(std::vector<OpenNode*> parents, bool are_last);

  // is_last: no node will be split after this one.
  std::pair<OpenNode, OpenNode> open_children(OpenNode parent, bool is_last);

  // A node that stays a leaf.
  void close(OpenNode node);

 protected:
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

  // The rows, sums and bounds of the root, and of the sides of a node's best split.
  virtual void set_root(OpenNode& root) const = 0;
  virtual void set_sides(const OpenNode& parent, OpenNode& left, OpenNode& right) const = 0;

  // Appends the values of a node, should it stay a leaf, to those of the tree.
  virtual void add_values(const OpenNode& node) = 0;

  // What an opened node's histogram is made of, and where it has the cells of a column of RowCodes.
  virtual std::size_t n_cells() const = 0;
  virtual std::size_t updates_a_row() const = 0;
  virtual bool fits_packed(std::uint64_t n_rows) const = 0;
  virtual std::pair<std::size_t, std::size_t> cells_of(std::size_t column) const = 0;
  // Rows null: begin .. end of the table. Of a window, they are counted from its first row.
  virtual void add_rows(const RowIndex* rows, std::size_t begin, std::size_t end,
                        Histogram& histogram, const RowWindow& window) const = 0;
  // Sets the cells of columns from .. to - 1 alone: dense ones, or a block.
  virtual void sum_columns(std::size_t from, std::size_t to, const RowIndex* rows,
                           std::size_t begin, std::size_t end, Histogram& histogram) const = 0;
  virtual void complete(std::size_t column, const OpenNode& node, Histogram& histogram) const = 0;

  // One search of two nodes, the first and the second: begun, by columns on any thread, ended by setting
  // `best` of the node; and settled, for some nodes at once, where rows must be counted.
  virtual void begin_search() = 0;
  virtual void search_columns(const Task& task, std::size_t begin, std::size_t end, int thread,
                              std::size_t which) = 0;
  virtual void end_search(Task& task, std::size_t which) = 0;
  virtual void settle(std::span<OpenNode* const> /*nodes*/) {}

  // A split by a threshold as end_search would set it, or one that is not found where a side is too small
  // or a constraint forbids it.
  struct Sides {
    BoostedSplit split;
    std::vector<Wide> left_totals;
  };
  virtual Sides part(const OpenNode& node, const Split& split, std::size_t column) = 0;

  // Score of the node itself, which that of a split must exceed.
  virtual double node_score(const OpenNode& node) const = 0;

  void begin_tree(std::span<const RowIndex> rows, std::uint32_t tree, LeafRows& leaves);
  TreeArrays flatten_tree();
  void list_leaves(LeafRows& leaves);
  bool may_be_split(const OpenNode& node) const;
  std::size_t column_of(FeatureIndex feature) const;
  double least_gain() const;
  bool is_symmetric() const { return options_.growth == BoostedGrowth::symmetric; }
  void give_back(std::unique_ptr<Histogram> histogram);

  const BinnedDataset& table_;
  const std::shared_ptr<const RowCodes> codes_;
  const HistogramOptions options_;
  const Context& context_;
  ColumnChoice columns_;
  SearchUnits units_;
  std::span<RowIndex> rows_;
  GrownTree tree_;
  std::vector<Leaf> leaves_;
  std::size_t cell_width_ = 1;  // cells of a code
  std::vector<std::size_t>
      block_ends_;  // of columns whose cells are made one block after the other; or none

 private:
  using Children = std::pair<OpenNode, OpenNode>;

  struct SweptNode;

  // Whether rows are read in sweeps. In memory, and of cells that are made block by block, they are not.
  bool is_swept() const {
    return codes_->is_mapped() && table_.mapped->sweeps && block_ends_.size() <= 1;
  }
  std::size_t bytes_to_cache();
  NodeIndex add_node(const OpenNode& node);
  const CodedColumn& split_column(const OpenNode& parent) const {
    return table_.columns[static_cast<std::size_t>(parent.best.split.feature)];
  }
  int threads_to_part(std::size_t n_rows) const {
    return n_rows >= kParallelRows ? context_.n_threads() : 1;
  }
  std::size_t part_own_rows(const OpenNode& parent);
  Children part_rows(OpenNode& parent);
  Children make_children(const OpenNode& parent, std::size_t n_own_left,
                         std::uint64_t n_left) const;
  void part_ahead(std::span<OpenNode* const> parents);
  void open_together(std::span<OpenNode* const> parents);
  std::unique_ptr<Histogram> take_child_histogram(const OpenNode& parent);
  void sweep_children(std::span<OpenNode* const> parents, std::span<const OpenNode> built,
                      std::span<std::size_t> n_own_left);
  void sweep(std::span<SweptNode> nodes);
  void sweep_rows(SweptNode& node, std::size_t begin, std::size_t end, const RowWindow& window,
                  Histogram* histogram, std::vector<RowIndex>& added) const;
  void forget_children(OpenNode& node);
  void share_parts(std::span<OpenNode* const> parents, std::span<const std::size_t> n_own_left,
                   std::span<OpenNode* const> filled, std::span<std::uint64_t> n_left);
  std::vector<CategoryIndex> own_categories(const OpenNode& parent, std::size_t n_own_left) const;
  static bool sends_missing_left(const OpenNode& parent);
  void split_node(const OpenNode& parent, std::size_t n_own_left);
  void open(OpenNode& smaller, OpenNode* larger, std::unique_ptr<Histogram> parent);
  void search_nodes(OpenNode& smaller, OpenNode* larger, std::unique_ptr<Histogram> parent);
  bool sums_by_columns(std::size_t n_updates, const Histogram& histogram) const;
  std::vector<std::size_t> task_ends() const;
  void make_histogram(OpenNode& node);
  void sum_up(const OpenNode& node, Histogram& histogram);
  void sum_up_swept(const OpenNode& node, Histogram& histogram);
  void fill(const OpenNode& node);
  void sum_own_columns(const OpenNode& node, std::size_t begin, std::size_t end,
                       Histogram& histogram) const;
  void add_parts(std::size_t column, Histogram& histogram) const;
  ColumnChoice::Columns shared_columns() const;
  void append_cells(std::span<OpenNode* const> nodes, std::vector<std::uint64_t>& numbers) const;
  void take_cells(std::span<OpenNode* const> nodes, const std::uint64_t* numbers) const;
  void add_histogram(OpenNode& node) const;
  bool is_parallel() const { return context_.n_threads() > 1 && n_cells() >= kParallelCells; }
  void search(Task& first, Task* second, const Histogram* whole);
  void decide(std::span<OpenNode* const> nodes);
  void decide(OpenNode& node);
  bool has_forced(const OpenNode& node) const;
  bool force(OpenNode& node);
  std::size_t most_histograms() const;
  std::unique_ptr<Histogram> take_histogram(std::uint64_t n_rows);

  ParallelPartition partition_;
  std::vector<Histogram> parts_;                    // of the other threads
  const bool is_near_;                              // all codes are dense and fit in near caches
  std::vector<std::unique_ptr<Histogram>> unused_;  // histograms to be used again
  std::size_t n_histograms_ = 0;                    // that exist
  std::size_t n_parts_ = 1;  // of the histogram being made; 0: search() makes it column by column
  bool all_rows_ = false;    // rows_ is 0, 1, 2, ... as the root has it
  std::optional<std::size_t> cached_bytes_;  // of a swept file, once known
};

}  // namespace arboleda
