#include "split/level_search.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

void LevelSearch::search(std::span<const LevelNode> level, const RowCodes::Column& column,
                         Split& best) {
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  order_codes(level, column, codes);
  const std::size_t missing_cell = column.first_cell + codes.n_values;
  const bool has_side = codes.has_missing && !codes.is_categorical;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !has_side) break;
    totals_.assign(order_.size(), 0.0);
    for (const LevelNode& node : level) {
      add_scores(node, column, missing_left ? node.histogram->at(missing_cell) : Wide{},
                 missing_left && !node.n_rows.empty() ? node.n_rows[codes.n_values] : 0);
    }
    if (codes.is_categorical) forbid_ties();
    keep(column, codes, missing_left, best);
  }
}

// No cut separates categories of the same key, so their numbers do not matter.
void LevelSearch::forbid_ties() {
  for (std::size_t i = 0; i + 1 < keyed_.size(); ++i) {
    if (keyed_[i].first == keyed_[i + 1].first) {
      totals_[i] = -std::numeric_limits<double>::infinity();
    }
  }
}

// Numbers ascend; categories by the smoothed Newton step over the whole level.
void LevelSearch::order_codes(std::span<const LevelNode> level, const RowCodes::Column& column,
                              const CodedColumn& codes) {
  order_.resize(codes.is_categorical ? codes.n_codes() : codes.n_values);
  std::iota(order_.begin(), order_.end(), Code{0});
  if (!codes.is_categorical) return;
  keyed_.clear();
  for (const Code code : order_) {
    double gradient = 0.0;
    double hessian = 0.0;
    for (const LevelNode& node : level) {
      const Wide sum = node.histogram->at(column.first_cell + code);
      gradient += static_cast<double>(sum.gradient);
      hessian += static_cast<double>(sum.hessian);
    }
    keyed_.emplace_back(search_.category_key(gradient, hessian), code);
  }
  std::sort(keyed_.begin(), keyed_.end());
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = keyed_[i].second;
}

void LevelSearch::add_scores(const LevelNode& node, const RowCodes::Column& column, Wide missing,
                             std::size_t n_missing) {
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  if (search_.is_plain() && !codes.is_categorical && node.n_rows.empty()) {
    search_.add_scores(*node.node, *node.histogram, column.first_cell, codes.n_values, missing,
                       node.score, totals_.data());
    return;
  }
  Wide left = missing;
  std::size_t n_left = n_missing;
  const auto is_too_small = [&](std::size_t n) {
    return !node.n_rows.empty() && n < options_.min_samples_leaf;
  };
  const double more_l2 = search_.more_l2(column, *node.histogram);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Wide sum = node.histogram->at(column.first_cell + order_[i]);
    left = left + sum;
    if (!node.n_rows.empty()) n_left += node.n_rows[order_[i]];
    const double score = search_.allowed_score(*node.node, column.feature, left, more_l2);
    const bool passes_on = score == -std::numeric_limits<double>::infinity() ||
                           is_too_small(n_left) || is_too_small(node.node->n_rows - n_left);
    totals_[i] += passes_on ? node.score : score;
  }
}

void LevelSearch::keep(const RowCodes::Column& column, const CodedColumn& codes, bool missing_left,
                       Split& best) const {
  std::size_t place = 0;
  if (options_.random_thresholds && order_.size() > 1) {
    place = search_.draw(static_cast<std::uint32_t>(order_.size() - 1), column.feature, 0);
  } else {
    place = static_cast<std::size_t>(std::max_element(totals_.begin(), totals_.end()) -
                                     totals_.begin());
  }
  Split split;
  split.score = totals_[place];
  split.feature = column.feature;
  split.missing_left = missing_left;
  if (codes.is_categorical) {
    split.left_codes.assign(order_.begin(),
                            order_.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    std::sort(split.left_codes.begin(), split.left_codes.end());
    split.missing_left = codes.has_missing && split.left_codes.back() == codes.get_missing_code();
  } else {
    split.code = order_[place];
  }
  if (split.better_than(best)) best = std::move(split);
}

}  // namespace arboleda
