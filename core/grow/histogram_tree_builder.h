// Grows the nodes of a boosted tree of one output (grow/boosted_tree_builder.h).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "grow/boosted_tree_builder.h"
#include "split/level_search.h"
#include "split/packed_gradients.h"

namespace arboleda {

class HistogramTreeBuilder : public BoostedTreeBuilder {
 public:
  HistogramTreeBuilder(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                       const HistogramOptions& options, const Context& context);

  void begin_tree(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
                  std::uint32_t tree, LeafRows& leaves);

  // Symmetric trees: finds the one split of all these nodes, none of which was searched yet, and marks
  // those that it splits. False if there is none.
  bool search_level(std::vector<OpenNode>& level, std::int32_t depth);

  TreeArrays end_tree(const RowDerivatives& derivatives, LeafRows& leaves);

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

  void set_root(OpenNode& root) const override;
  void set_sides(const OpenNode& parent, OpenNode& left, OpenNode& right) const override;
  void add_values(const OpenNode& node) override;
  std::size_t n_cells() const override { return codes_->n_cells(); }
  std::size_t updates_a_row() const override { return codes_->updates_a_row(); }
  bool fits_packed(std::uint64_t n_rows) const override { return gradients_.fits_packed(n_rows); }
  std::pair<std::size_t, std::size_t> cells_of(std::size_t column) const override;
  void add_rows(const RowIndex* rows, std::size_t begin, std::size_t end, Histogram& histogram,
                const RowWindow& window) const override;
  void sum_columns(std::size_t from, std::size_t to, const RowIndex* rows, std::size_t begin,
                   std::size_t end, Histogram& histogram) const override;
  void complete(std::size_t column, const OpenNode& node, Histogram& histogram) const override;
  void begin_search() override;
  void search_columns(const Task& task, std::size_t begin, std::size_t end, int thread,
                      std::size_t which) override;
  void end_search(Task& task, std::size_t which) override;
  void settle(std::span<OpenNode* const> nodes) override;
  Sides part(const OpenNode& node, const Split& split, std::size_t column) override;
  double node_score(const OpenNode& node) const override {
    return workers_[0].search.node_score(node.node);
  }

  // Rows of each code of a column.
  using Counts = std::vector<std::uint32_t>;
  Counts count_own_rows(const OpenNode& node, const RowCodes::Column& column);
  void add_counts(std::span<Counts> counts) const;
  Counts count_rows(const OpenNode& node, const RowCodes::Column& column);
  void settle(OpenNode& node, std::span<const Counts> counts);
  bool leaves_rows(const OpenNode& node, const BoostedSplit& split, const RowCodes::Column& column);
  Split search_all(std::span<const LevelNode> level, std::int32_t depth,
                   const ColumnChoice::Groups& groups);
  Split confirm_level_splits(std::span<const OpenNode> open, std::span<LevelNode> level);
  bool is_certain(std::span<const LevelNode> level, const Split& split) const;

  PackedGradients gradients_;
  std::deque<Worker> workers_;
  std::vector<Code> gathered_;
};

}  // namespace arboleda
