// Numeric features of a node, many side by side: which of them vary, by one pass over the rows; and
// random splits by many of them at once: a threshold is drawn for each, and what lies above it is summed
// in a second pass. For criteria that score binary features: being above a threshold is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/numeric_feature_rows.h"
#include "simd/kernels.h"
#include "split/node_view.h"
#include "split/random_search.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
template <class Criterion>
class NumericFeatureSearch {
 public:
  // random: draws the thresholds. is_tested: only the score decides on a split, and one is drawn for each
  // column.
  NumericFeatureSearch(const BinnedDataset& table, const NumericFeatureRows& rows,
                       const Criterion& criterion, const RandomSearch<Criterion>& random,
                       bool is_tested)
      : table_(table), rows_(rows), criterion_(criterion), random_(random) {
    if constexpr (kScores) {
      serves_ = is_tested && !rows.empty() && criterion.max_weight() <= UINT8_MAX;
    }
    lowest_.resize(rows.n_places());
    highest_.resize(rows.n_places());
    if (!serves_) return;
    last_.resize(rows.n_places());
    drawn_.resize(rows.n_places());
    score_.resize(rows.n_places());
    total_.resize(rows.n_places() * criterion.n_outputs());
  }

  // Whether the column is a number in this sense.
  bool takes(FeatureIndex feature) const {
    return rows_.place(feature) != NumericFeatureRows::kNone;
  }

  // Calls visit(feature) for each number that varies in the node.
  template <class Visit>
  void for_varying(const NodeView<Criterion>& node, const Visit& visit) {
    for (std::size_t at = 0; at < rows_.n_places(); at += NumericFeatureBlock::kColumns) {
      find_ranges(node, at);
    }
    for (std::size_t place = 0; place < rows_.n_numbers(); ++place) {
      if (lowest_[place] < highest_[place]) visit(rows_.feature_at(place));
    }
  }

  // Whether search() is to be used.
  bool serves() const { return serves_; }

  // Improves `best` by the features, which it takes; varies(f) states whether the f-th of them varies.
  void search(const NodeView<Criterion>& node, std::span<const FeatureIndex> features,
              typename Criterion::Sides&, Split& best) {
    if constexpr (kScores) {
      list_blocks(features);
      for (const std::size_t at : blocks_) {
        find_ranges(node, at);
        // Features that are not searched have nothing above their last code.
        std::fill_n(&last_[at], NumericFeatureBlock::kColumns, std::uint16_t{UINT16_MAX});
      }
      draw(node, features);
      for (const std::size_t at : blocks_) score(node, at);
      for (std::size_t f = 0; f < features.size(); ++f) {
        if (!varies(f)) continue;
        const std::size_t place = rows_.place(features[f]);
        Split& drawn = drawn_[place];
        drawn.score = score_[place];
        if (drawn.better_than(best)) best = drawn;
      }
    }
  }

  bool varies(std::size_t f) const { return varies_[f] != 0; }

 private:
  static constexpr bool kScores = requires { requires Criterion::kScoresBinaryFeatures; };

  // Rows of a node whose codes are gone through where more would be halved among all codes.
  static constexpr std::size_t kFewRows = 16;

  void list_blocks(std::span<const FeatureIndex> features) {
    blocks_.clear();
    for (const FeatureIndex feature : features) {
      const std::size_t place = rows_.place(feature);
      const std::size_t at = place - place % NumericFeatureBlock::kColumns;
      if (std::ranges::find(blocks_, at) == blocks_.end()) blocks_.push_back(at);
    }
  }

  void find_ranges(const NodeView<Criterion>& node, std::size_t at) {
    kernels_.numeric_features.ranges(rows_.block_of(at), node.rows.data(), node.rows.size(),
                                     &lowest_[at], &highest_[at]);
  }

  void draw(const NodeView<Criterion>& node, std::span<const FeatureIndex> features) {
    varies_.resize(features.size());
    for (std::size_t f = 0; f < features.size(); ++f) {
      const std::size_t place = rows_.place(features[f]);
      varies_[f] = lowest_[place] < highest_[place];
      if (!varies(f)) continue;
      Split& drawn = drawn_[place];
      const CodedColumn& column = table_.columns[static_cast<std::size_t>(features[f])];
      drawn.feature = features[f];
      drawn.next_code = highest_[place];
      const double t = random_.draw(node, features[f], column, lowest_[place], highest_[place]);
      drawn.code = node.rows.size() <= kFewRows
                       ? last_among(node.rows, rows_.codes_at(place), column, t)
                       : last_not_above(column, lowest_[place], highest_[place], t);
      drawn.threshold = threshold_from(column, drawn.code, t);
      last_[place] = static_cast<std::uint16_t>(drawn.code);
    }
  }

  // The largest code of the rows whose values are not above t; there is one.
  static Code last_among(std::span<const RowIndex> rows, const NumericFeatureCodes& codes,
                         const CodedColumn& column, double t) {
    Code last = 0;
    for (const RowIndex row : rows) {
      const Code code = codes[row];
      last = std::max(last, column.values[code] <= t ? code : Code{0});
    }
    return last;
  }

  void score(const NodeView<Criterion>& node, std::size_t at) {
    const std::size_t stride = rows_.n_places();
    kernels_.numeric_features.sum_above(rows_.block_of(at), &last_[at], node.rows.data(),
                                        node.local.entry.data(), node.rows.size(),
                                        criterion_.n_outputs(), stride, &total_[at]);
    kernels_.split_scores.gini(&total_[at], stride, NumericFeatureBlock::kColumns, node.total,
                               criterion_.n_outputs(), &score_[at]);
  }

  const BinnedDataset& table_;
  const NumericFeatureRows& rows_;
  const Criterion& criterion_;
  const RandomSearch<Criterion>& random_;
  const Kernels& kernels_ = kernels();
  bool serves_ = false;
  std::vector<std::size_t> blocks_;   // that are searched: the place of their first column
  std::vector<std::uint8_t> varies_;  // of each feature that is searched
  // Of each place:
  std::vector<std::uint16_t> lowest_, highest_, last_;
  std::vector<Split> drawn_;
  std::vector<double> score_;
  std::vector<std::uint32_t> total_;  // class by class
};

}  // namespace arboleda
