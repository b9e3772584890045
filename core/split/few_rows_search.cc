#include "split/few_rows_search.h"

#include <algorithm>

namespace arboleda {

bool FewRowsSearch::takes(FeatureIndex feature) const {
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
  return !column.is_categorical && !column.has_missing && !node_codes_.are_listed(feature);
}

void FewRowsSearch::read_codes(std::span<const RowIndex> rows,
                               std::span<const FeatureIndex> features) {
  stride_ = (features.size() + kLanes - 1) / kLanes * kLanes;
  codes_.resize(stride_ * rows.size());
  score_.resize(stride_);
  code_.resize(stride_);
  for (std::size_t f = 0; f < features.size(); ++f) {
    node_codes_.visit(features[f], rows.size(), [&](const auto& codes) {
      for (std::size_t i = 0; i < rows.size(); ++i) codes_[i * stride_ + f] = codes[rows[i]];
    });
  }
  for (std::size_t f = features.size(); f < stride_; ++f) {
    for (std::size_t i = 0; i < rows.size(); ++i) codes_[i * stride_ + f] = 0;
  }
}

void FewRowsSearch::keep_best(std::size_t n_rows, std::span<const FeatureIndex> features,
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
  for (std::size_t i = 0; i < n_rows; ++i) {
    const Code code = codes_[i * stride_ + winner];
    if (code > found_.code) found_.next_code = std::min(found_.next_code, code);
  }
  best = found_;
}

}  // namespace arboleda
