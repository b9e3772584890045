// The best split of a node of few rows: its features side by side. A search of one feature after the
// other would spend most of its time on overhead per feature; here every row of a feature is tried
// as a threshold, without a sort, and eight features take one register. For criteria whose score
// kernels().split_scores has, where only the score decides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "layout/code_rows.h"
#include "simd/kernels.h"
#include "split/node_view.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
template <class Criterion>
class FewRowsSearch {
 public:
  static constexpr std::size_t kMost = SplitScoreKernels::kMostRows;

  // is_wanted: only the score decides.
  FewRowsSearch(const BinnedDataset& table, const CodeRows& code_rows, const Criterion& criterion,
                bool is_wanted)
      : table_(table), code_rows_(code_rows), criterion_(criterion) {
    if constexpr (kServes) {
      if (is_wanted && criterion.fits_few(kMost)) most_rows_ = kMost;
    }
  }

  // Whether it is quicker than a sort of each feature's rows: its time is that of the rows squared.
  bool serves(std::size_t n_rows, std::size_t n_features) const {
    return n_rows <= most_rows_ && n_features >= kFewest &&
           n_rows * n_rows <= kSquareAFeature * n_features;
  }

  // Whether the feature can be among those of search(): numbers without gaps.
  bool takes(FeatureIndex feature) const {
    const CodedColumn& column = column_of(feature);
    return !column.is_categorical && !column.has_missing &&
           !std::holds_alternative<SparseCodes>(column.codes);
  }

  // Improves `best` as a search of each feature would. varies(f): whether the rows differ in
  // features[f].
  void search(const NodeView<Criterion>& node, std::span<const FeatureIndex> features,
              typename Criterion::Sides& sides, Split& best) {
    if constexpr (kServes) {
      stride_ = (features.size() + kLanes - 1) / kLanes * kLanes;
      const std::size_t n_rows = node.rows.size();
      codes_.resize(stride_ * n_rows);
      score_.resize(stride_);
      code_.resize(stride_);
      for (std::size_t f = 0; f < features.size(); ++f) read_codes(node, features[f], f);
      for (std::size_t f = features.size(); f < stride_; ++f) {
        for (std::size_t i = 0; i < n_rows; ++i) codes_[i * stride_ + f] = 0;
      }
      score(node, sides);
      keep_best(node, features, best);
    }
  }

  bool varies(std::size_t f) const { return score_[f] >= 0.0; }

 private:
  static constexpr bool kServes = requires { requires Criterion::kScoresRuns; };
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kFewest = 4;
  static constexpr std::size_t kSquareAFeature = 16;

  const CodedColumn& column_of(FeatureIndex feature) const {
    return table_.columns[static_cast<std::size_t>(feature)];
  }

  void read_codes(const NodeView<Criterion>& node, FeatureIndex feature, std::size_t f) {
    const std::size_t n_rows = node.rows.size();
    const auto read = [&](const auto& codes) {
      for (std::size_t i = 0; i < n_rows; ++i) codes_[i * stride_ + f] = codes[node.rows[i]];
    };
    if (code_rows_.serves(feature, n_rows)) return read(code_rows_.column(feature));
    std::visit(
        [&](const auto& codes) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) read(codes);
        },
        column_of(feature).codes);
  }

  // Class weights.
  void score(const NodeView<Criterion>& node, typename Criterion::Sides&)
    requires Criterion::kScoresBinaryFeatures
  {
    const std::size_t n_rows = node.rows.size();
    std::array<std::uint32_t, kMost> label, weight, present;
    std::uint32_t n_present = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      const auto& entry = node.local.entry[i];
      std::uint32_t k = 0;
      while (k < n_present && present[k] != entry.label) ++k;
      if (k == n_present) present[n_present++] = entry.label;
      label[i] = k;
      weight[i] = entry.weight;
    }
    kernels_.split_scores.gini_of_few(codes_.data(), stride_, label.data(), weight.data(), n_rows,
                                      n_present, score_.data(), code_.data());
  }

  // One sum, taken about the centre of the node.
  void score(const NodeView<Criterion>& node, typename Criterion::Sides& sides) {
    const std::size_t n_rows = node.rows.size();
    sides.reset(node.total, n_rows);
    std::array<std::int64_t, kMost> sum, weight;
    for (std::size_t i = 0; i < n_rows; ++i) {
      weight[i] = criterion_.weight_of(node.local, i);
      sum[i] = (node.local.target[i] - sides.centre()) * weight[i];
    }
    kernels_.split_scores.squared_of_few(codes_.data(), stride_, sum.data(), weight.data(), n_rows,
                                         score_.data(), code_.data());
  }

  void keep_best(const NodeView<Criterion>& node, std::span<const FeatureIndex> features,
                 Split& best) {
    double score = best.score;
    FeatureIndex feature = best.feature;
    std::size_t winner = features.size();
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (score_[f] < score || (score_[f] == score && features[f] >= feature)) continue;
      if (!varies(f)) continue;
      score = score_[f];
      feature = features[f];
      winner = f;
    }
    if (winner == features.size()) return;
    found_.score = score;
    found_.feature = feature;
    found_.code = code_[winner];
    found_.next_code = Split::kNoCode;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      const Code code = codes_[i * stride_ + winner];
      if (code > found_.code) found_.next_code = std::min(found_.next_code, code);
    }
    best = found_;
  }

  const BinnedDataset& table_;
  const CodeRows& code_rows_;
  const Criterion& criterion_;
  const Kernels& kernels_ = kernels();
  std::size_t most_rows_ = 0;
  std::size_t stride_ = 0;
  UnfilledVector<Code> codes_;  // of each row, feature by feature
  UnfilledVector<Code> code_;   // the largest on the left, of each feature
  UnfilledVector<double> score_;
  Split found_;
};

}  // namespace arboleda
