// Numeric features of a node, many side by side: which of them vary, by one pass over the rows; and
// random splits by many of them at once: a threshold is drawn for each, and what lies above it is summed
// in a second pass. For criteria that score binary features, because being above a threshold is one, and
// for the squared error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "layout/numeric_feature_rows.h"
#include "simd/kernels.h"
#include "split/class_node.h"
#include "split/mean_node.h"
#include "split/random_draw.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
class NumericFeatureSearch {
 public:
  // n_classes: 0 for a mean. draw: draws the thresholds. serves: the criterion is one of those, only the score
  // decides on a split, and one is drawn for each column.
  NumericFeatureSearch(const BinnedDataset& table, const NumericFeatureRows& rows,
                       std::size_t n_classes, const RandomDraw& draw, bool serves);

  // Whether the column is a number in this sense.
  bool takes(FeatureIndex feature) const {
    return rows_.place(feature) != NumericFeatureRows::kNone;
  }

  // Calls visit(feature) for each number that varies in the rows of a node.
  template <class Visit>
  void for_varying(std::span<const RowIndex> rows, const Visit& visit) {
    for (std::size_t at = 0; at < rows_.n_places(); at += NumericFeatureBlock::kColumns) {
      find_ranges(rows, at);
    }
    for (std::size_t place = 0; place < rows_.n_numbers(); ++place) {
      if (lowest_[place] < highest_[place]) visit(rows_.feature_at(place));
    }
  }

  // Whether search() is to be used.
  bool serves() const { return serves_; }

  // Improves `best` by the features, which it takes; varies(f) states whether the f-th of them varies. key: of
  // the node.
  template <class Node>  // ClassNode or MeanNode
  void search(const Node& node, std::uint64_t key, std::span<const FeatureIndex> features,
              Split& best) {
    draw_splits(node.rows, key, features);
    for (const std::size_t at : blocks_) score(node, at);
    keep_best(features, best);
  }

  bool varies(std::size_t f) const { return varies_[f] != 0; }

 private:
  // A search for the largest code whose values are not above t: it is one of n from `code` on.
  struct Halving {
    const double* values;
    double t;
    Code code, n;
    std::size_t place;  // of the feature among those that are searched
  };

  void list_blocks(std::span<const FeatureIndex> features);
  void find_ranges(std::span<const RowIndex> rows, std::size_t at);
  void draw_splits(std::span<const RowIndex> rows, std::uint64_t key,
                   std::span<const FeatureIndex> features);
  void halve_together(std::span<const FeatureIndex> features);
  void score(const ClassNode& node, std::size_t at);
  void score(const MeanNode& node, std::size_t at);
  void keep_best(std::span<const FeatureIndex> features, Split& best);

  const BinnedDataset& table_;
  const NumericFeatureRows& rows_;
  const std::size_t n_classes_;
  const RandomDraw& draw_;
  const bool serves_;
  const Kernels& kernels_ = kernels();
  std::vector<std::size_t> blocks_;   // that are searched: the place of their first column
  std::vector<std::uint8_t> varies_;  // of each feature that is searched
  std::vector<Halving> halvings_;
  // Of each place:
  std::vector<std::uint16_t> lowest_, highest_, last_;
  std::vector<Split> drawn_;
  std::vector<double> score_;
  std::vector<std::uint32_t> total_;        // class by class
  std::vector<std::int64_t> sum_, weight_;  // of means
};

}  // namespace arboleda
