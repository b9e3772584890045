#include "split/numeric_feature_search.h"

#include <algorithm>

namespace arboleda {

NumericFeatureSearch::NumericFeatureSearch(const BinnedDataset& table,
                                           const NumericFeatureRows& rows, std::size_t n_classes,
                                           const RandomDraw& draw, bool serves)
    : table_(table),
      rows_(rows),
      n_classes_(n_classes),
      draw_(draw),
      serves_(serves && !rows.empty()),
      lowest_(rows.n_places()),
      highest_(rows.n_places()) {
  if (!serves_) return;
  last_.resize(rows.n_places());
  drawn_.resize(rows.n_places());
  score_.resize(rows.n_places());
  total_.resize(rows.n_places() * n_classes);
  if (n_classes == 0) {
    sum_.resize(rows.n_places());
    weight_.resize(rows.n_places());
  }
}

void NumericFeatureSearch::keep_best(std::span<const FeatureIndex> features, Split& best) {
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (!varies(f)) continue;
    const std::size_t place = rows_.place(features[f]);
    Split& drawn = drawn_[place];
    drawn.score = score_[place];
    if (drawn.better_than(best)) best = drawn;
  }
}

void NumericFeatureSearch::list_blocks(std::span<const FeatureIndex> features) {
  blocks_.clear();
  for (const FeatureIndex feature : features) {
    const std::size_t place = rows_.place(feature);
    const std::size_t at = place - place % NumericFeatureBlock::kColumns;
    if (std::ranges::find(blocks_, at) == blocks_.end()) blocks_.push_back(at);
  }
}

void NumericFeatureSearch::find_ranges(std::span<const RowIndex> rows, std::size_t at) {
  kernels_.numeric_features.ranges(rows_.block_of(at), rows.data(), rows.size(), &lowest_[at],
                                   &highest_[at]);
}

// One for each of the features that varies.
void NumericFeatureSearch::draw_splits(std::span<const RowIndex> rows, std::uint64_t key,
                                       std::span<const FeatureIndex> features) {
  list_blocks(features);
  for (const std::size_t at : blocks_) {
    find_ranges(rows, at);
    // Features that are not searched have nothing above their last code.
    std::fill_n(&last_[at], NumericFeatureBlock::kColumns, std::uint16_t{UINT16_MAX});
  }
  varies_.resize(features.size());
  halvings_.clear();
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::size_t place = rows_.place(features[f]);
    const Code lowest = lowest_[place], highest = highest_[place];
    varies_[f] = lowest < highest;
    if (!varies(f)) continue;
    Split& drawn = drawn_[place];
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(features[f])];
    drawn.feature = features[f];
    drawn.next_code = highest;
    drawn.threshold = draw_.draw_threshold(key, features[f], column, lowest, highest);
    if (rows.size() <= kFewDrawnRows && column.upper.empty()) {
      const NumericFeatureCodes codes = rows_.codes_at(place);
      const auto code_of = [&](std::size_t i) { return codes[rows[i]]; };
      drawn.code = last_among(column, lowest, drawn.threshold, rows.size(), code_of);
      last_[place] = static_cast<std::uint16_t>(drawn.code);
    } else {
      halvings_.push_back({column.values.data(), drawn.threshold, lowest, highest - lowest, f});
    }
  }
  if (!halvings_.empty()) halve_together(features);
}

// As last_not_above() does for each column, but a step of all columns at a time: none has to wait for values
// of another.
void NumericFeatureSearch::halve_together(std::span<const FeatureIndex> features) {
  for (bool any_left = true; any_left;) {
    any_left = false;
    for (Halving& halving : halvings_) {
      const Code half = halving.n / 2;
      halving.code += halving.values[halving.code + half] <= halving.t ? half : 0;
      halving.n -= half;
      any_left |= halving.n > 1;
    }
  }
  for (const Halving& halving : halvings_) {
    const FeatureIndex feature = features[halving.place];
    const std::size_t place = rows_.place(feature);
    Split& drawn = drawn_[place];
    drawn.code = halving.code;
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
    drawn.threshold = threshold_from(column, drawn.code, halving.t);
    last_[place] = static_cast<std::uint16_t>(drawn.code);
  }
}

void NumericFeatureSearch::score(const ClassNode& node, std::size_t at) {
  const std::size_t stride = rows_.n_places();
  kernels_.numeric_features.sum_above(rows_.block_of(at), &last_[at], node.rows.data(),
                                      node.entries, node.rows.size(), n_classes_, stride,
                                      &total_[at]);
  kernels_.split_scores.gini(&total_[at], stride, NumericFeatureBlock::kColumns, node.total,
                             n_classes_, &score_[at]);
}

// Scores of features that are not searched are no numbers, and nobody reads them.
void NumericFeatureSearch::score(const MeanNode& node, std::size_t at) {
  kernels_.numeric_features.sum_values_above(rows_.block_of(at), &last_[at], node.rows.data(),
                                             node.sums, node.weights, node.rows.size(), &sum_[at],
                                             &weight_[at]);
  kernels_.split_scores.squared(&sum_[at], &weight_[at], NumericFeatureBlock::kColumns, node.sum,
                                node.weight, &score_[at]);
}

}  // namespace arboleda
