#include "split/few_rows_search.h"

#include <algorithm>
#include <cstdint>

namespace arboleda {

namespace {

constexpr std::size_t kLineBytes = 64;

// Keys fit 31 bits.
constexpr std::size_t kMostCodes = std::size_t{1} << (31 - FewRowsSearch::kPlaceBits);

}  // namespace

bool FewRowsSearch::takes(FeatureIndex feature) const {
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
  return !column.is_categorical && !column.has_missing && column.n_codes() <= kMostCodes &&
         !node_codes_.are_listed(feature);
}

void FewRowsSearch::read_keys(std::span<const RowIndex> rows,
                              std::span<const FeatureIndex> features) {
  n_rows_ = rows.size();
  const std::size_t n_blocks = (features.size() + n_lanes_ - 1) / n_lanes_;
  const std::size_t n_keys = n_blocks * n_lanes_ * n_rows_;
  if (key_room_.size() < n_keys + kLineBytes) {
    key_room_.resize(n_keys + kLineBytes);
    const auto at = reinterpret_cast<std::uintptr_t>(key_room_.data());
    keys_ = key_room_.data() + (kLineBytes - at % kLineBytes) % kLineBytes / sizeof(std::int32_t);
  }
  for (std::size_t f = 0; f < features.size(); ++f) {
    std::int32_t* const keys = keys_ + f / n_lanes_ * n_lanes_ * n_rows_ + f % n_lanes_;
    node_codes_.visit(features[f], n_rows_, [&](const auto& codes) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        keys[i * n_lanes_] = static_cast<std::int32_t>(Code{codes[rows[i]]} << kPlaceBits | i);
      }
    });
  }
  for (std::size_t f = 0; f < features.size(); f += n_lanes_) {
    kernels_.split_scores.sort_columns(keys_ + f * n_rows_, n_rows_);
  }
}

void FewRowsSearch::make_room(std::size_t n_rows, std::size_t n_features) {
  end_.resize(n_features);
  const std::size_t n_splits = n_rows * n_features + kPadding;
  if (right_.size() >= n_splits) return;
  right_.resize(n_splits);
  left_.resize(n_splits);
  weight_.resize(n_splits);
  place_.resize(n_splits);
  score_.resize(n_splits);
}

// Repeats a threshold until there are as many as the kernels take at once.
std::size_t FewRowsSearch::fill_up(std::size_t n_splits) {
  const std::size_t n_padded = (n_splits + kPadding - 1) / kPadding * kPadding;
  for (std::size_t i = n_splits; i < n_padded; ++i) {
    right_[i] = right_[0];
    left_[i] = left_[0];
    weight_[i] = weight_[0];
  }
  return n_padded;
}

// The first threshold from `at` on, and before `end`, that has the highest score, or `end`.
std::size_t FewRowsSearch::find_from(std::size_t at, std::size_t end) const {
  constexpr std::size_t kBlock = 16;
  for (; at + kBlock <= end; at += kBlock) {
    std::int64_t n_found = 0;
    for (std::size_t j = 0; j < kBlock; ++j) n_found += score_[at + j] == highest_ ? 1 : 0;
    if (n_found > 0) break;
  }
  while (at < end && score_[at] != highest_) ++at;
  return at;
}

void FewRowsSearch::keep_best(std::span<const FeatureIndex> features, Split& best) {
  const std::size_t n_splits = end_[features.size() - 1];
  if (n_splits == 0 || highest_ < best.score) return;
  FeatureIndex feature = -1;
  std::size_t winner = 0, at = 0;
  // Of equal scores, the first feature wins, and of one feature the lowest threshold, which is its last.
  for (std::size_t f = 0; f < features.size(); ++f) {
    for (; (at = find_from(at, end_[f])) < end_[f]; ++at) {
      if (feature >= 0 && features[f] > feature) continue;
      feature = features[f];
      winner = at;
    }
  }
  found_.score = highest_;
  found_.feature = feature;
  if (!found_.better_than(best)) return;
  const auto f = static_cast<std::size_t>(std::ranges::find(features, feature) - features.begin());
  const std::int32_t* const key = column(f) + place_[winner] * n_lanes_;
  found_.code = static_cast<Code>(key[-static_cast<std::ptrdiff_t>(n_lanes_)]) >> kPlaceBits;
  found_.next_code = static_cast<Code>(*key) >> kPlaceBits;
  best = found_;
}

}  // namespace arboleda
