// Grows the nodes of a boosted tree whose leaves hold a value for every output
// (grow/boosted_tree_builder.h, split/vector_search.h).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "grow/boosted_tree_builder.h"
#include "simd/vector_histogram_kernels.h"
#include "split/vector_gradients.h"
#include "split/vector_histogram.h"
#include "split/vector_search.h"

namespace arboleda {

class VectorTreeBuilder : public BoostedTreeBuilder {
 public:
  // n_outputs: of what splits are searched by.
  VectorTreeBuilder(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                    const HistogramOptions& options, std::size_t n_outputs, const Context& context);

  void begin_tree(std::span<const RowIndex> rows, const VectorDerivatives& searched,
                  std::uint32_t tree, LeafRows& leaves);

  // The tree with the steps and weights of each output: of those that were searched by, or of more where
  // these were a sketch.
  std::vector<TreeArrays> end_tree(const VectorDerivatives& derivatives, LeafRows& leaves);

 private:
  struct Worker {
    Worker(const BinnedDataset& table, const RowCodes& codes, const VectorCells& cells,
           const HistogramOptions& options)
        : search(table, codes, cells, options) {}
    VectorSearch search;
    std::array<Split, 2> best;
  };

  void set_root(OpenNode& root) const override;
  void set_sides(const OpenNode& parent, OpenNode& left, OpenNode& right) const override;
  void add_values(const OpenNode&) override {}
  std::size_t n_cells() const override { return cells_.n_numbers(); }
  // Several numbers are updated at once.
  std::size_t updates_a_row() const override {
    return codes_->updates_a_row() * cells_.width() / kVectorLanes;
  }
  bool fits_packed(std::uint64_t n_rows) const override {
    return n_rows <= gradients_.most_packed_rows();
  }
  std::pair<std::size_t, std::size_t> cells_of(std::size_t column) const override {
    return {cells_.begin_of(column), cells_.end_of(column)};
  }
  void add_rows(const RowIndex* rows, std::size_t begin, std::size_t end, Histogram& histogram,
                const RowWindow& window) const override {
    cells_.add_rows(rows, begin, end, gradients_, histogram, window);
  }
  void sum_columns(std::size_t from, std::size_t to, const RowIndex* rows, std::size_t begin,
                   std::size_t end, Histogram& histogram) const override {
    cells_.sum_columns(from, to, rows, begin, end, gradients_, histogram);
  }
  void complete(std::size_t column, const OpenNode& node, Histogram& histogram) const override {
    cells_.complete(column, node.totals, histogram);
  }
  void begin_search() override;
  void search_columns(const Task& task, std::size_t begin, std::size_t end, int thread,
                      std::size_t which) override;
  void end_search(Task& task, std::size_t which) override;
  Sides part(const OpenNode& node, const Split& split, std::size_t column) override;
  double node_score(const OpenNode& node) const override {
    return workers_[0].search.node_score(node.totals);
  }

  Wide sum_of_outputs(std::span<const Wide> totals) const;
  // What the steps of all outputs are found from.
  struct LeafSums {
    std::vector<SumScale> scales;  // of the gradients of each output, then of the hessians
    std::vector<ExactSum> sums;    // of each leaf: of the first, of the second, ..
  };
  LeafSums sum_outputs(const VectorDerivatives& derivatives, const LeafRows& leaves) const;
  std::vector<SumScale> scales_of(const VectorDerivatives& derivatives,
                                  const LeafRows& leaves) const;
  std::vector<ExactSum> sum_nodes(std::span<const ExactSum> of_leaves) const;

  const VectorCells cells_;
  VectorGradients gradients_;
  std::deque<Worker> workers_;
};

}  // namespace arboleda
