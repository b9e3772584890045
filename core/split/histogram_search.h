// Finds the best split of one node on one column from its histogram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/memory.h"
#include "criterion/newton.h"
#include "data/binned_dataset.h"
#include "layout/row_codes.h"
#include "split/histogram.h"
#include "split/histogram_options.h"
#include "split/split.h"

namespace arboleda {

// A node as the search sees it.
struct BoostedNode {
  Wide total;
  std::size_t n_rows = 0;
  std::int32_t depth = 0;
  std::uint64_t key = 0;  // its path from the root, for randomness
  LeafBounds bounds;
};

// A split and the sums of its left side.
struct BoostedSplit {
  Split split;
  Wide left{};
  bool saw_missing = false;  // the node has missing values in the column
};

// What all searches of a tree have in common.
struct SearchUnits {
  double gradient = 1.0, hessian = 1.0;
  int exponent = 0;         // gradients, values and their bounds here are times 2^-exponent
  std::int64_t least = 1;   // hessian, in units, that a side must have
  std::int64_t enough = 1;  // hessian with which it certainly has enough rows
  std::uint64_t seed = 0;
  std::uint32_t tree = 0;
};

// Scratch of one thread.
class HistogramSearch {
 public:
  HistogramSearch(const BinnedDataset& table, const HistogramOptions& options);

  void begin_tree(const SearchUnits& units);

  // Improves `best` by the splits that certainly leave min_samples_leaf rows on each side, and returns
  // the score of the best that may: a histogram counts hessians, not rows.
  double search(const BoostedNode& node, const RowCodes::Column& column, const Histogram& histogram,
                Split& best);

  // The same with the number of rows of each code: nothing is left unsure.
  void search_counted(const BoostedNode& node, const RowCodes::Column& column,
                      const Histogram& histogram, std::span<const std::uint32_t> n_rows,
                      Split& best);

  // Score of the node itself, which a split must exceed.
  double node_score(const BoostedNode& node) const;

  // The value of a leaf with these sums, times 2^-exponent.
  double value(Wide sums, const LeafBounds& bounds) const;

  // For splits that several nodes share:

  bool is_plain() const { return is_plain_; }  // the loops of simd/histogram_kernels.h do

  // The score of a split with these sums on its left, or -infinity where a side is too small or a
  // constraint forbids it.
  double allowed_score(const BoostedNode& node, FeatureIndex feature, Wide left,
                       double more_l2) const;

  // What is added to l2 in a split of a node by a column: 0 for numbers.
  double more_l2(const RowCodes::Column& column, const Histogram& histogram) const;

  // Adds the scores of all splits on a column of numbers.
  void add_scores(const BoostedNode& node, const Histogram& histogram, std::size_t first_cell,
                  std::size_t n_codes, Wide missing, double without, double* totals) const;

  // A category's place in the order that is tried, from its sums in units.
  double category_key(double gradient, double hessian) const;

  std::uint32_t draw(std::uint32_t n, FeatureIndex feature, std::uint64_t key) const;

  // The sums of a split's left side.
  BoostedSplit complete(const Split& split, const RowCodes::Column& column,
                        const Histogram& histogram) const;

 private:
  struct Candidate {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t place = 0;  // the last code, or the last group, on the left
    bool missing_left = false;
  };
  struct Found {
    Candidate any, certain;
  };

  bool lacks_rows(const BoostedNode& node, const RowCodes::Column& column,
                  const Histogram& histogram) const;
  Found scan_plain(const BoostedNode& node, const RowCodes::Column& column,
                   const Histogram& histogram, bool has_missing, double floor) const;
  Found scan_groups(const BoostedNode& node, FeatureIndex feature, std::size_t n_groups,
                    Wide missing, std::uint32_t n_missing, bool has_missing) const;
  Found search_column(const BoostedNode& node, const RowCodes::Column& column,
                      const Histogram& histogram, std::span<const std::uint32_t> n_rows,
                      double floor);  // lower scores need not be found
  void group_codes(const RowCodes::Column& column, const Histogram& histogram,
                   std::span<const std::uint32_t> n_rows, std::size_t n_codes);
  void order_categories();
  double more_l2(std::size_t n_categories) const;
  bool is_tied(std::size_t i) const;
  void consider(const BoostedNode& node, FeatureIndex feature, Wide left, std::uint64_t n_left,
                const Candidate& candidate, Found& found) const;
  void keep(const RowCodes::Column& column, const Candidate& candidate, Split& best) const;

  struct Group {
    Code code;
    Wide sum;
    std::uint32_t n_rows;
    double key;
  };

  const BinnedDataset& table_;
  const HistogramOptions& options_;
  NewtonLeaf leaf_;
  const bool is_plain_;
  SearchUnits units_;
  UnfilledVector<Group> groups_;
  bool is_counted_ = false;
  bool by_category_ = false;
  double more_l2_ = 0.0;
};

}  // namespace arboleda
