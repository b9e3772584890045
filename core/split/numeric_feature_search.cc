#include "split/numeric_feature_search.h"

#include <algorithm>

namespace arboleda {

namespace {

// Rows of a node whose codes are gone through where more would be halved among all codes.
constexpr std::size_t kFewRows = 16;

// The largest code of the rows whose values are not above t; there is one.
Code last_among(std::span<const RowIndex> rows, const NumericFeatureCodes& codes,
                const CodedColumn& column, double t) {
  Code last = 0;
  for (const RowIndex row : rows) {
    const Code code = codes[row];
    last = std::max(last, column.values[code] <= t ? code : Code{0});
  }
  return last;
}

}  // namespace

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
}

void NumericFeatureSearch::search(const ClassNode& node, std::uint64_t key,
                                  std::span<const FeatureIndex> features, Split& best) {
  list_blocks(features);
  for (const std::size_t at : blocks_) {
    find_ranges(node.rows, at);
    // Features that are not searched have nothing above their last code.
    std::fill_n(&last_[at], NumericFeatureBlock::kColumns, std::uint16_t{UINT16_MAX});
  }
  draw_splits(node, key, features);
  for (const std::size_t at : blocks_) score(node, at);
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

void NumericFeatureSearch::draw_splits(const ClassNode& node, std::uint64_t key,
                                       std::span<const FeatureIndex> features) {
  varies_.resize(features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::size_t place = rows_.place(features[f]);
    varies_[f] = lowest_[place] < highest_[place];
    if (!varies(f)) continue;
    Split& drawn = drawn_[place];
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(features[f])];
    drawn.feature = features[f];
    drawn.next_code = highest_[place];
    const double t =
        draw_.draw_threshold(key, features[f], column, lowest_[place], highest_[place]);
    drawn.code = node.rows.size() <= kFewRows
                     ? last_among(node.rows, rows_.codes_at(place), column, t)
                     : last_not_above(column, lowest_[place], highest_[place], t);
    drawn.threshold = threshold_from(column, drawn.code, t);
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

}  // namespace arboleda
