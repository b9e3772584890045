// The best split of a node of few rows: its features side by side. A search of one feature after the
// other would spend most of its time on the work per feature and on mispredicted branches; here every lane of
// a register sorts the rows of a feature, and the thresholds of all features are scored
// together. For criteria whose score kernels().split_scores has, where only the score decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "simd/kernels.h"
#include "split/node_codes.h"
#include "split/node_view.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread: all but the scores.
class FewRowsSearch {
 public:
  static constexpr int kPlaceBits = 10;
  static constexpr std::size_t kMost = std::size_t{1} << kPlaceBits;

  // serves: the criterion has the scores, and only the score decides.
  FewRowsSearch(const BinnedDataset& table, const NodeCodes& codes, bool serves)
      : table_(table), node_codes_(codes), most_rows_(serves ? kMost : 0) {}

  // Whether it is quicker than a sort of each feature's rows.
  bool serves(std::size_t n_rows, std::size_t n_features) const {
    return n_rows <= most_rows_ && n_features >= kFewest;
  }

  // Whether the feature can be among those of search(): numbers without gaps.
  bool takes(FeatureIndex feature) const;

  // Improves `best` as a search of each feature would. varies(f): whether the rows differ in
  // features[f]. sides: scratch.
  template <class Criterion>
  void search(const Criterion& criterion, const NodeView<Criterion>& node,
              std::span<const FeatureIndex> features, typename Criterion::Sides& sides,
              Split& best) {
    read_keys(node.rows, features);
    make_room(node.rows.size(), features.size());
    score(criterion, node, features, sides);
    keep_best(features, best);
  }

  bool varies(std::size_t f) const { return end_[f] > (f == 0 ? 0 : end_[f - 1]); }

 private:
  static constexpr std::size_t kPadding = 8;  // of what is scored
  static constexpr std::size_t kFewest = 4;
  static constexpr std::int32_t kOneCode = std::int32_t{1} << kPlaceBits;

  struct WeightedSum {
    std::int64_t sum, weight;
  };

  void read_keys(std::span<const RowIndex> rows, std::span<const FeatureIndex> features);
  void make_room(std::size_t n_rows, std::size_t n_features);
  std::size_t fill_up(std::size_t n_splits);
  std::size_t find_from(std::size_t at, std::size_t end) const;
  void keep_best(std::span<const FeatureIndex> features, Split& best);

  // The key of a feature's lowest row; the next one is that of the next row.
  const std::int32_t* column(std::size_t f) const {
    return keys_ + f / n_lanes_ * n_lanes_ * n_rows_ + f % n_lanes_;
  }

  // Walks down the sorted rows of each feature: clear() before the first, move(place) for every row, and
  // put(i) where all rows so far are the right side of threshold i. Returns the number of thresholds.
  template <class Clear, class Move, class Put>
  std::size_t walk(std::size_t n_features, const Clear& clear, const Move& move, const Put& put) {
    std::size_t n_splits = 0;
    for (std::size_t f = 0; f < n_features; ++f) {
      clear();
      const std::int32_t* key = column(f) + (n_rows_ - 1) * n_lanes_;
      std::int32_t own = *key;
      // Rows of the smallest code there is have no threshold below them.
      for (std::size_t i = n_rows_ - 1; i > 0 && own >= kOneCode; --i) {
        key -= n_lanes_;
        const std::int32_t below = *key;
        move(static_cast<std::size_t>(own % kOneCode));
        put(n_splits);
        place_[n_splits] = static_cast<std::uint32_t>(i);
        n_splits += (own ^ below) >= kOneCode;  // rows of one code overwrite each other's
        own = below;
      }
      end_[f] = n_splits;
    }
    return n_splits;
  }

  // Class weights: the sums of their squares on both sides, kept up to date as criterion/gini.h does.
  template <class Criterion>
    requires Criterion::kScoresBinaryFeatures
  void score(const Criterion& criterion, const NodeView<Criterion>& node,
             std::span<const FeatureIndex> features, typename Criterion::Sides&) {
    number_labels(criterion, node);
    std::int64_t squares = 0, total_weight = 0;
    for (const std::int64_t weight : total_) {
      squares += weight * weight;
      total_weight += weight;
    }
    right_of_.resize(total_.size());
    std::int64_t* const right_of = right_of_.data();
    std::int64_t left_squares = 0, right_squares = 0, weight = 0;
    const std::size_t n_splits = walk(
        features.size(),
        [&] {
          std::fill(right_of_.begin(), right_of_.end(), 0);
          left_squares = squares;
          right_squares = weight = 0;
        },
        [&, total = total_.data()](std::size_t place) {
          const auto [label, w] = entry_[place];
          const std::int64_t right = right_of[label];
          right_of[label] = right + w;
          right_squares += w * (2 * right + w);
          left_squares -= w * (2 * (total[label] - right) - w);
          weight += w;
        },
        [&, left_at = left_.data(), right_at = right_.data(),
         weight_at = weight_.data()](std::size_t i) {
          left_at[i] = left_squares;
          right_at[i] = right_squares;
          weight_at[i] = weight;
        });
    if (n_splits == 0) return;
    const std::size_t n_padded = fill_up(n_splits);
    highest_ = kernels_.split_scores.quotients(right_.data(), left_.data(), weight_.data(),
                                               n_padded, total_weight, score_.data());
  }

  // One sum, taken about the centre of the node.
  template <class Criterion>
  void score(const Criterion& criterion, const NodeView<Criterion>& node,
             std::span<const FeatureIndex> features, typename Criterion::Sides& sides) {
    sides.reset(node.total, node.rows.size());
    sums_.resize(n_rows_);
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const std::int64_t weight = criterion.weight_of(node.local, i);
      sums_[i] = {(node.local.target[i] - sides.centre()) * weight, weight};
    }
    std::int64_t sum = 0, weight = 0;
    const std::size_t n_splits = walk(
        features.size(), [&] { sum = weight = 0; },
        [&, sums = sums_.data()](std::size_t place) {
          sum += sums[place].sum;
          weight += sums[place].weight;
        },
        [&, sum_at = right_.data(), weight_at = weight_.data()](std::size_t i) {
          sum_at[i] = sum;
          weight_at[i] = weight;
        });
    if (n_splits == 0) return;
    const std::size_t n_padded = fill_up(n_splits);
    highest_ =
        kernels_.split_scores.squared(right_.data(), weight_.data(), n_padded, sides.right().sum,
                                      sides.right().weight, score_.data());
  }

  // Labels in the node, numbered as they come, and the weights of each.
  template <class Criterion>
  void number_labels(const Criterion& criterion, const NodeView<Criterion>& node) {
    number_of_.resize(criterion.n_outputs(), kNoNumber);
    total_.clear();
    entry_.resize(n_rows_);
    for (std::size_t i = 0; i < n_rows_; ++i) {
      const auto& entry = node.local.entry[i];
      std::uint32_t& number = number_of_[entry.label];
      if (number == kNoNumber) {
        number = static_cast<std::uint32_t>(total_.size());
        total_.push_back(0);
      }
      entry_[i] = {number, static_cast<std::int32_t>(entry.weight)};
      total_[number] += entry.weight;
    }
    for (const auto& entry : node.local.entry) number_of_[entry.label] = kNoNumber;
  }

  static constexpr std::uint32_t kNoNumber = UINT32_MAX;
  struct NumberedEntry {
    std::uint32_t label;
    std::int32_t weight;
  };

  const BinnedDataset& table_;
  const NodeCodes& node_codes_;
  const Kernels& kernels_ = kernels();
  const std::size_t n_lanes_ = kernels_.split_scores.sorted_columns;
  const std::size_t most_rows_;
  std::size_t n_rows_ = 0;
  UnfilledVector<std::int32_t> key_room_;
  std::int32_t* keys_ = nullptr;  // of n_lanes_ features, row by row; then of the next ones
  // Of all thresholds: what is on the right, and on the left, the place of the row above it, its score.
  UnfilledVector<std::int64_t> right_, left_, weight_;
  UnfilledVector<std::uint32_t> place_;
  UnfilledVector<double> score_;
  double highest_ = 0.0;
  std::vector<std::size_t> end_;  // of each feature's thresholds
  std::vector<WeightedSum> sums_;
  std::vector<std::uint32_t> number_of_;  // of each label; kNoNumber between two searches
  std::vector<NumberedEntry> entry_;
  std::vector<std::int64_t> total_, right_of_;
  Split found_;
};

}  // namespace arboleda
