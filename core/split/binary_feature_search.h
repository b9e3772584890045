// Binary features in the search of a node's split: summed many at a time, and, where only the score
// decides, scored many at a time too. For criteria whose class weights fit bytes; for others no column
// counts as binary.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/binary_feature_table.h"
#include "simd/kernels.h"
#include "split/node_view.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
template <class Criterion>
class BinaryFeatureSearch {
 public:
  using Slot = typename Criterion::Slot;

  // counts_rows: count the rows on each side too. is_unlimited: only the score decides on a split.
  BinaryFeatureSearch(const BinaryFeatureTable& table, const Criterion& criterion, bool counts_rows,
                      bool is_unlimited)
      : table_(table), criterion_(criterion), counts_rows_(counts_rows) {
    best_.code = 0;
    best_.next_code = 1;
    if constexpr (Criterion::kSumsBinaryFeatures) {
      sums_ = !table.empty() && criterion.max_weight() <= UINT8_MAX;
      scores_ = sums_ && is_unlimited && Criterion::kScoresBinaryFeatures && !table.sums_all();
    }
  }

  // Whether sum() computes all sums that the feature needs.
  bool sums(FeatureIndex feature) const { return sums_ && is_binary(feature); }

  // Whether best_of() finds the best split by the feature.
  bool scores() const { return scores_; }
  bool scores(FeatureIndex feature) const { return scores_ && is_binary(feature); }

  // The sums over the flags among these features, or over all.
  void sum(const NodeView<Criterion>& node, std::span<const FeatureIndex> features) {
    if constexpr (Criterion::kSumsBinaryFeatures) {
      if (!sums_) return;
      if (table_.sums_all()) {
        sum_all(node);
      } else {
        sum_some(node, features);
      }
    }
  }

  // The cell of the rows that have the flag. Where rows are not counted, one stands for any number.
  void cell_of(FeatureIndex flag, std::vector<Slot>& cell) const {
    const std::size_t place = table_.place(flag);
    const std::size_t at = table_.sums_all() ? place : at_[place];
    const std::size_t n_classes = criterion_.n_outputs();
    cell.resize(std::max(cell.size(), n_classes + 1));
    for (std::size_t k = 0; k <= n_classes; ++k) cell[k] = total_[k * stride_ + at];
    if (!counts_rows_) cell[n_classes] = 1;
  }

  // The best split by scored binary features; afterwards is_split_by() states which of them vary; none where
  // none does.
  const Split* best_of(const NodeView<Criterion>& node, std::span<const FeatureIndex> flags) {
    if constexpr (Criterion::kSumsBinaryFeatures) {
      if (flags.empty()) return nullptr;
      sum_some(node, flags);
      score_.resize(std::max(score_.size(), stride_));
      kernels_.split_scores.gini(total_.data(), stride_, stride_, node.total,
                                 criterion_.n_outputs(), score_.data());
      best_.score = kConstant;
      for (const FeatureIndex flag : flags) {
        const double score = score_of(flag);
        if (score < best_.score || (score == best_.score && flag > best_.feature)) continue;
        best_.score = score;
        best_.feature = flag;
      }
      if (best_.score > kConstant) return &best_;
    }
    return nullptr;
  }

  bool is_split_by(FeatureIndex flag) const { return score_of(flag) > kConstant; }

  // Calls visit(feature) for each binary feature that varies in the node. Scored ones only.
  template <class Visit>
  void for_varying(const NodeView<Criterion>& node, const Visit& visit) {
    const BinaryFeatureBits bits = table_.bits();
    varying_.resize(bits.stride + BinaryFeatureBits::kBlock - 1);
    kernels_.binary_features.varying(bits, node.rows.data(), node.rows.size(), varying_.data());
    for (std::size_t w = 0; w < bits.stride; ++w) {
      for (std::uint32_t rest = varying_[w]; rest != 0; rest &= rest - 1) {
        visit(table_.feature_at(w * 32 + static_cast<unsigned>(std::countr_zero(rest))));
      }
    }
  }

 private:
  static constexpr double kConstant = -1.0;  // the score where a side is empty

  bool is_binary(FeatureIndex feature) const {
    return table_.place(feature) != BinaryFeatureTable::kNone;
  }
  double score_of(FeatureIndex flag) const { return score_[at_[table_.place(flag)]]; }

  void sum_all(const NodeView<Criterion>& node) {
    const BinaryFeatureRows rows = table_.rows();
    stride_ = rows.stride;
    total_.resize(criterion_.width() * stride_);
    kernels_.binary_features.sum(rows, node.rows.data(), node.local.entry.data(), node.rows.size(),
                                 criterion_.n_outputs(), counts_rows_, total_.data());
  }

  void sum_some(const NodeView<Criterion>& node, std::span<const FeatureIndex> features) {
    group(features);
    if (groups_.empty()) return;
    stride_ = groups_.size() * BinaryFeatureGroup::kColumns;
    total_.resize(std::max(total_.size(), criterion_.width() * stride_));
    kernels_.binary_features.sum_groups(table_.bits(), groups_.data(), groups_.size(),
                                        node.rows.data(), node.local.entry.data(), node.rows.size(),
                                        criterion_.n_outputs(), counts_rows_, total_.data());
  }

  // Flags of one block of words, eight by eight.
  void group(std::span<const FeatureIndex> features) {
    constexpr std::size_t kBlockBits = 32 * BinaryFeatureBits::kBlock;
    places_.clear();
    for (const FeatureIndex feature : features) {
      if (is_binary(feature)) places_.push_back(table_.place(feature));
    }
    if (table_.n_flags() > kBlockBits) std::sort(places_.begin(), places_.end());
    at_.resize(table_.n_flags());
    groups_.clear();
    std::size_t in_group = BinaryFeatureGroup::kColumns;
    for (const std::size_t place : places_) {
      const auto block = static_cast<std::uint32_t>(place / kBlockBits);
      if (in_group == BinaryFeatureGroup::kColumns || groups_.back().block != block) {
        groups_.push_back({block, {}, {}});
        in_group = 0;
      }
      BinaryFeatureGroup& last = groups_.back();
      last.word[in_group] = static_cast<std::uint32_t>(place % kBlockBits / 32);
      last.shift[in_group] = static_cast<std::uint32_t>(31 - place % 32);
      at_[place] = (groups_.size() - 1) * BinaryFeatureGroup::kColumns + in_group++;
    }
  }

  const BinaryFeatureTable& table_;
  const Criterion& criterion_;
  const bool counts_rows_;
  const Kernels& kernels_ = kernels();
  bool sums_ = false;
  bool scores_ = false;
  std::vector<std::size_t> places_;  // places in a row
  std::vector<BinaryFeatureGroup> groups_;
  std::vector<std::size_t> at_;  // of each place: where its sums are, where not all are summed up
  std::size_t stride_ = 0;       // of the sums, from class to class
  std::vector<std::uint32_t> total_;
  std::vector<double> score_;
  std::vector<std::uint32_t> varying_;  // bits of places
  Split best_;
};

}  // namespace arboleda
