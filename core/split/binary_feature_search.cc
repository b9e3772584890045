#include "split/binary_feature_search.h"

#include <algorithm>

namespace arboleda {

BinaryFeatureSearch::BinaryFeatureSearch(const BinaryFeatureTable& table, std::size_t n_classes,
                                         bool counts_rows, bool sums, bool scores)
    : table_(table),
      n_classes_(n_classes),
      counts_rows_(counts_rows),
      sums_(sums && !table.empty()),
      scores_(sums_ && scores && !table.sums_all()) {
  best_.code = 0;
  best_.next_code = 1;
}

void BinaryFeatureSearch::sum(const ClassNode& node, std::span<const FeatureIndex> features) {
  if (!sums_) return;
  if (table_.sums_all()) {
    sum_all(node);
  } else {
    sum_some(node, features);
  }
}

void BinaryFeatureSearch::cell_of(FeatureIndex flag, std::vector<std::uint32_t>& cell) const {
  const std::size_t place = table_.place(flag);
  const std::size_t at = table_.sums_all() ? place : at_[place];
  cell.resize(std::max(cell.size(), n_classes_ + 1));
  for (std::size_t k = 0; k <= n_classes_; ++k) cell[k] = total_[k * stride_ + at];
  if (!counts_rows_) cell[n_classes_] = 1;
}

const Split* BinaryFeatureSearch::best_of(const ClassNode& node,
                                          std::span<const FeatureIndex> flags) {
  if (flags.empty()) return nullptr;
  sum_some(node, flags);
  score_.resize(std::max(score_.size(), stride_));
  kernels_.split_scores.gini(total_.data(), stride_, stride_, node.total, n_classes_,
                             score_.data());
  best_.score = kConstant;
  for (const FeatureIndex flag : flags) {
    const double score = score_of(flag);
    if (score < best_.score || (score == best_.score && flag > best_.feature)) continue;
    best_.score = score;
    best_.feature = flag;
  }
  return best_.score > kConstant ? &best_ : nullptr;
}

void BinaryFeatureSearch::sum_all(const ClassNode& node) {
  const BinaryFeatureRows rows = table_.rows();
  stride_ = rows.stride;
  total_.resize((n_classes_ + 1) * stride_);
  kernels_.binary_features.sum(rows, node.rows.data(), node.entries, node.rows.size(), n_classes_,
                               counts_rows_, total_.data());
}

void BinaryFeatureSearch::sum_some(const ClassNode& node, std::span<const FeatureIndex> features) {
  group(features);
  if (groups_.empty()) return;
  stride_ = groups_.size() * BinaryFeatureGroup::kColumns;
  total_.resize(std::max(total_.size(), (n_classes_ + 1) * stride_));
  kernels_.binary_features.sum_groups(table_.bits(), groups_.data(), groups_.size(),
                                      node.rows.data(), node.entries, node.rows.size(), n_classes_,
                                      counts_rows_, total_.data());
}

// Flags of one block of words, eight by eight.
void BinaryFeatureSearch::group(std::span<const FeatureIndex> features) {
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

}  // namespace arboleda
