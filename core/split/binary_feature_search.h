// Binary features in the search of a node's split: summed many at a time, and, where only the score
// decides, scored many at a time too. For criteria whose class weights fit bytes; for others no column
// counts as binary.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/binary_feature_table.h"
#include "simd/kernels.h"
#include "split/class_node.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
class BinaryFeatureSearch {
 public:
  // sums, scores: whether the criterion allows it. counts_rows: count the rows on each side too.
  BinaryFeatureSearch(const BinaryFeatureTable& table, std::size_t n_classes, bool counts_rows,
                      bool sums, bool scores);

  // Whether sum() computes all sums that the feature needs.
  bool sums(FeatureIndex feature) const { return sums_ && is_binary(feature); }

  // Whether best_of() finds the best split by the feature.
  bool scores() const { return scores_; }
  bool scores(FeatureIndex feature) const { return scores_ && is_binary(feature); }

  // The sums over the flags among these features, or over all.
  void sum(const ClassNode& node, std::span<const FeatureIndex> features);

  // The cell of the rows that have the flag. Where rows are not counted, one stands for any number.
  void cell_of(FeatureIndex flag, std::vector<std::uint32_t>& cell) const;

  // The best split by scored binary features; afterwards is_split_by() states which of them vary; none where
  // none does.
  const Split* best_of(const ClassNode& node, std::span<const FeatureIndex> flags);

  bool is_split_by(FeatureIndex flag) const { return score_of(flag) > kConstant; }

  // Calls visit(feature) for each binary feature that varies in the rows of a node. Scored ones only.
  template <class Visit>
  void for_varying(std::span<const RowIndex> rows, const Visit& visit) {
    const BinaryFeatureBits bits = table_.bits();
    varying_.resize(bits.stride + BinaryFeatureBits::kBlock - 1);
    kernels_.binary_features.varying(bits, rows.data(), rows.size(), varying_.data());
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

  void sum_all(const ClassNode& node);
  void sum_some(const ClassNode& node, std::span<const FeatureIndex> features);
  void group(std::span<const FeatureIndex> features);

  const BinaryFeatureTable& table_;
  const std::size_t n_classes_;
  const bool counts_rows_;
  const bool sums_, scores_;
  const Kernels& kernels_ = kernels();
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
