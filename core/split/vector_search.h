// Finds the best split of one node for all outputs at once: the gain of a split is the sum of the gains of
// the outputs, and every output has its own Newton step in a leaf.
//
//   gain = 1/2 sum_k [ G_Lk^2 / (H_Lk + lambda) + G_Rk^2 / (H_Rk + lambda) - G_k^2 / (H_k + lambda) ]
//          - gamma
//
// Categories are ordered by the first principal component of their smoothed steps, weighted by their rows;
// Coppersmith, Hong, Hosking (1999), "Partitioning nominal attributes in decision trees", section 4. Of
// one output that is the order of the steps. `min_child_weight` is about the sum of the outputs' hessians.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "criterion/newton.h"
#include "data/binned_dataset.h"
#include "layout/row_codes.h"
#include "split/histogram.h"
#include "split/histogram_options.h"
#include "split/histogram_search.h"
#include "split/split.h"
#include "split/vector_gradients.h"
#include "split/vector_histogram.h"

namespace arboleda {

// What all searches of a tree have in common.
struct VectorUnits {
  std::vector<double> gradient;  // one an output, times 2^-exponent
  double hessian = 1.0;
  int exponent = 0;  // gradients and values here are times 2^-exponent
  std::uint64_t seed = 0;
  std::uint32_t tree = 0;
};

// Scratch of one thread.
class VectorSearch {
 public:
  VectorSearch(const BinnedDataset& table, const RowCodes& codes, const VectorCells& cells,
               const HistogramOptions& options);

  void begin_tree(const VectorUnits& units);

  // totals: `width` sums of the node.
  void begin_node(const BoostedNode& node, std::span<const Wide> totals);

  // Improves `best` by splits of the node on a column, a number of RowCodes::columns().
  void search(std::size_t column, const Histogram& histogram, Split& best);

  // Score of a node, which a split must exceed.
  double node_score(std::span<const Wide> totals) const;

  // The sums of a split's left side, `width` of them.
  std::vector<Wide> left_of(const Split& split, std::size_t column,
                            const Histogram& histogram) const;

  bool has_missing(std::size_t column, const Histogram& histogram) const;

  // The score of a split by a threshold with these sums on its left, or -infinity where a side is too
  // small.
  double allowed_score(std::span<const Wide> left) const;

 private:
  struct Group {
    Code code;
    double key;
  };

  const CodedColumn& coded(std::size_t column) const;
  bool lacks_rows(std::size_t column, const Histogram& histogram) const;
  std::int64_t min_rows() const;
  void add_code(std::size_t column, Code code, const Histogram& histogram, Wide* sums) const;
  void scan(std::size_t column, const Histogram& histogram, bool missing_left, Split& best);
  void group_codes(std::size_t column, const Histogram& histogram, std::size_t n_codes);
  void order_categories(std::size_t column, const Histogram& histogram);
  void scan_groups(std::size_t column, const Histogram& histogram, bool missing_left, Split& best);
  bool is_tied(std::size_t group) const;
  bool is_allowed(std::span<const Wide> left) const;
  double score(std::span<const Wide> left, double more_l2) const;
  double output_score(std::size_t output, Wide sum, double more_l2) const;

  const BinnedDataset& table_;
  const RowCodes& codes_;
  const VectorCells& cells_;
  const HistogramOptions& options_;
  NewtonLeaf leaf_;
  VectorUnits units_;
  std::vector<double> score_units_;  // `width`
  double min_hessian_ = 0.0;         // in units

  const BoostedNode* node_ = nullptr;
  std::span<const Wide> totals_;
  std::vector<double> total_gradient_, total_hessian_;
  std::vector<Packed> left_packed_;
  std::vector<Wide> left_wide_;
  std::vector<Group> groups_;
  std::vector<double> steps_;  // of each group, then those of the component
};

}  // namespace arboleda
