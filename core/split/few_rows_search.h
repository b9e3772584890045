// The best split of a node of few rows: its features side by side. A search of one feature after the
// other would spend most of its time on overhead per feature; here every row of a feature is tried
// as a threshold, without a sort, and eight features take one register. For criteria whose score
// kernels().split_scores has, where only the score decides.
#pragma once

#include <array>
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
  static constexpr std::size_t kMost = SplitScoreKernels::kMostRows;

  // serves: the criterion has the scores, and only the score decides.
  FewRowsSearch(const BinnedDataset& table, const NodeCodes& codes, bool serves)
      : table_(table), node_codes_(codes), most_rows_(serves ? kMost : 0) {}

  // Whether it is quicker than a sort of each feature's rows: its time is that of the rows squared.
  bool serves(std::size_t n_rows, std::size_t n_features) const {
    return n_rows <= most_rows_ && n_features >= kFewest &&
           n_rows * n_rows <= kSquareAFeature * n_features;
  }

  // Whether the feature can be among those of search(): numbers without gaps.
  bool takes(FeatureIndex feature) const;

  // Improves `best` as a search of each feature would. varies(f): whether the rows differ in
  // features[f]. sides: scratch.
  template <class Criterion>
  void search(const Criterion& criterion, const NodeView<Criterion>& node,
              std::span<const FeatureIndex> features, typename Criterion::Sides& sides,
              Split& best) {
    read_codes(node.rows, features);
    score(criterion, node, sides);
    keep_best(node.rows.size(), features, best);
  }

  bool varies(std::size_t f) const { return score_[f] >= 0.0; }

 private:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kFewest = 4;
  static constexpr std::size_t kSquareAFeature = 16;

  void read_codes(std::span<const RowIndex> rows, std::span<const FeatureIndex> features);
  void keep_best(std::size_t n_rows, std::span<const FeatureIndex> features, Split& best);

  // Class weights.
  template <class Criterion>
    requires Criterion::kScoresBinaryFeatures
  void score(const Criterion&, const NodeView<Criterion>& node, typename Criterion::Sides&) {
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
  template <class Criterion>
  void score(const Criterion& criterion, const NodeView<Criterion>& node,
             typename Criterion::Sides& sides) {
    const std::size_t n_rows = node.rows.size();
    sides.reset(node.total, n_rows);
    std::array<std::int64_t, kMost> sum, weight;
    for (std::size_t i = 0; i < n_rows; ++i) {
      weight[i] = criterion.weight_of(node.local, i);
      sum[i] = (node.local.target[i] - sides.centre()) * weight[i];
    }
    kernels_.split_scores.squared_of_few(codes_.data(), stride_, sum.data(), weight.data(), n_rows,
                                         score_.data(), code_.data());
  }

  const BinnedDataset& table_;
  const NodeCodes& node_codes_;
  const Kernels& kernels_ = kernels();
  const std::size_t most_rows_;
  std::size_t stride_ = 0;
  UnfilledVector<Code> codes_;  // of each row, feature by feature
  UnfilledVector<Code> code_;   // the largest on the left, of each feature
  UnfilledVector<double> score_;
  Split found_;
};

}  // namespace arboleda
