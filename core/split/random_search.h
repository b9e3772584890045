// One split of a node by one feature, drawn at random (extremely randomised trees: Geurts, Ernst,
// Wehenkel 2006): a threshold uniform between the smallest and the largest value in the node, or a
// random half of the categories present. Missing values are tried on both sides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/random.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "split/node_view.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// The largest code whose values are not above t, where those of `lowest` are not and those of `highest` are.
inline Code last_not_above(const CodedColumn& column, Code lowest, Code highest, double t) {
  const double* values = column.values.data();
  Code code = lowest;
  // Bisection without a branch: where a random number lies is unpredictable.
  for (Code n = highest - lowest; n > 1; n -= n / 2) code += values[code + n / 2] <= t ? n / 2 : 0;
  return code;
}

// The threshold that parts the rows as t does: where a code stands for several values, it is above all of
// these.
inline double threshold_from(const CodedColumn& column, Code last, double t) {
  return column.upper.empty() ? t : std::max(t, column.upper[last]);
}

// Scratch of one thread.
template <class Criterion>
class RandomSearch {
 public:
  RandomSearch(const Criterion& criterion, const SplitLimits& limits, std::uint64_t seed,
               std::uint32_t tree)
      : criterion_(criterion),
        limits_(limits),
        root_(QuickStream::root(seed, Purpose::random_split, tree)),
        sides_(criterion.make_sides()) {}

  // codes: one a row of the node. Improves `best`; false when all rows have the same code.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
              std::span<const Code> codes, Split& best) {
    QuickStream random(root_, feature_key(node.key, static_cast<std::uint32_t>(feature)));
    const Range range = find_range(column, codes);
    if (range.n_present == 0 || (range.is_one_code && range.n_present == codes.size())) {
      return false;
    }
    Split drawn;
    drawn.feature = feature;
    drawn.code = range.highest;
    if (column.is_categorical) {
      draw_categories(column, codes, range, random, drawn);
    } else if (!range.is_one_code) {
      draw_threshold(node, column, codes, range, random, drawn);
    }
    try_sides(node, column, codes, range, drawn, best);
    return true;
  }

  // Between two codes of a column whose values are kept: those that occur in the node and have all others
  // between them.
  double draw(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
              Code lowest, Code highest) const {
    QuickStream random(root_, feature_key(node.key, static_cast<std::uint32_t>(feature)));
    return between(column.values[lowest], column.values[highest], random);
  }

  // The threshold of a column of two codes that both occur in the node: the split is the same for
  // every one that can be drawn.
  double threshold_of_binary_feature(const NodeView<Criterion>& node, FeatureIndex feature,
                                     const CodedColumn& column) const {
    QuickStream random(root_, feature_key(node.key, static_cast<std::uint32_t>(feature)));
    const double t = between(column.values[0], column.values[1], random);
    return column.upper.empty() ? t : std::max(t, column.upper[0]);
  }

 private:
  using Slot = typename Criterion::Slot;

  // Uniform on [low, high).
  static double between(double low, double high, QuickStream& random) {
    const double u = random.uniform();
    const double t = low * (1.0 - u) + high * u;
    return t >= low && t < high ? t : low;
  }

  // The smallest and the largest present code.
  struct Range {
    Code lowest = std::numeric_limits<Code>::max();
    Code highest = 0;
    std::size_t n_present = 0;
    bool is_one_code = true;  // then the only split is "present or missing"
  };

  static Range find_range(const CodedColumn& column, std::span<const Code> codes) {
    Range range;
    if (column.has_missing) {
      const Code missing = column.get_missing_code();
      for (const Code code : codes) {
        const bool is_present = code != missing;
        range.lowest = std::min(range.lowest, code);
        range.highest = std::max(range.highest, is_present ? code : Code{0});
        range.n_present += is_present;
      }
    } else {
      for (const Code code : codes) {
        range.lowest = std::min(range.lowest, code);
        range.highest = std::max(range.highest, code);
      }
      range.n_present = codes.size();
    }
    range.is_one_code = range.n_present == 0 || range.lowest == range.highest;
    return range;
  }

  // The threshold, and the largest code whose values are not above it.
  static void draw_threshold(const NodeView<Criterion>& node, const CodedColumn& column,
                             std::span<const Code> codes, const Range& range, QuickStream& random,
                             Split& drawn) {
    if (!column.values.empty()) {
      const double* values = column.values.data();
      const double t = between(values[range.lowest], values[range.highest], random);
      drawn.code = last_not_above(column, range.lowest, range.highest, t);
      drawn.threshold = threshold_from(column, drawn.code, t);
      return;
    }
    const auto value_of = [&](std::size_t i) { return column.source[node.rows[i]] + 0.0; };
    const auto value_at = [&](Code code) {
      return value_of(static_cast<std::size_t>(std::ranges::find(codes, code) - codes.begin()));
    };
    const double t = between(value_at(range.lowest), value_at(range.highest), random);
    drawn.code = range.lowest;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (value_of(i) <= t) drawn.code = std::max(drawn.code, codes[i]);
    }
    drawn.threshold = t;
  }

  // Every present category goes left or right by the toss of a coin, but not all of them.
  void draw_categories(const CodedColumn& column, std::span<const Code> codes, const Range& range,
                       QuickStream& random, Split& drawn) {
    find_present(column, codes);
    if (range.is_one_code) {
      drawn.left_codes = present_;
      return;
    }
    for (const Code code : present_) {
      if (random.below(2) == 0) drawn.left_codes.push_back(code);
    }
    const Code other = present_[random.below(static_cast<std::uint32_t>(present_.size()))];
    if (drawn.left_codes.empty()) drawn.left_codes.push_back(other);
    if (drawn.left_codes.size() == present_.size()) std::erase(drawn.left_codes, other);
    for (const Code code : present_) goes_left_[code] = 0;
    for (const Code code : drawn.left_codes) goes_left_[code] = 1;
  }

  // Marks the categories of the node and no other. Costs nothing for those that are not there: a
  // small node of a column with many is as cheap as any.
  void find_present(const CodedColumn& column, std::span<const Code> codes) {
    for (const Code code : present_) goes_left_[code] = 0;
    present_.clear();
    goes_left_.resize(std::max(goes_left_.size(), column.n_values), 0);
    for (const Code code : codes) {
      if (code == column.get_missing_code() || goes_left_[code]) continue;
      goes_left_[code] = 1;
      present_.push_back(code);
    }
    std::sort(present_.begin(), present_.end());
  }

  void try_sides(const NodeView<Criterion>& node, const CodedColumn& column,
                 std::span<const Code> codes, const Range& range, Split& drawn, Split& best) {
    const Code missing = column.get_missing_code();
    sides_.reset(node.total, codes.size());
    if (column.is_categorical) {
      move(node, codes, [&](Code code) { return code != missing && goes_left_[code]; });
    } else {
      move(node, codes, [&](Code code) { return code != missing && code <= drawn.code; });
    }
    if (!range.is_one_code) drawn.next_code = range.highest;
    consider(sides_, limits_, drawn, best);
    if (range.is_one_code || range.n_present == codes.size()) return;
    move(node, codes, [&](Code code) { return code == missing; });
    drawn.missing_left = true;
    if (column.is_categorical) drawn.left_codes.push_back(missing);
    consider(sides_, limits_, drawn, best);
  }

  template <class GoesLeft>
  void move(const NodeView<Criterion>& node, std::span<const Code> codes,
            const GoesLeft& goes_left) {
    if constexpr (requires { criterion_.sum_if(node.local, goes_left, cell_.data()); }) {
      cell_.resize(criterion_.width());
      const auto is_moved = [&](std::size_t i) { return goes_left(codes[i]); };
      if (criterion_.sum_if(node.local, is_moved, cell_.data()))
        return sides_.move_cell(cell_.data());
    }
    // Listed first, because the side of a row is unpredictable.
    moved_.resize(codes.size());
    std::size_t n_moved = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      moved_[n_moved] = static_cast<std::uint32_t>(i);
      n_moved += goes_left(codes[i]);
    }
    const auto moved = std::span(moved_).first(n_moved);
    if constexpr (Criterion::kHasCells) {
      cell_.assign(criterion_.width(), Slot{});
      for (const std::size_t i : moved) criterion_.add(node.local, i, cell_.data());
      sides_.move_cell(cell_.data());
    } else {
      for (const std::size_t i : moved) criterion_.move_row(node.local, i, sides_);
    }
  }

  const Criterion& criterion_;
  const SplitLimits& limits_;
  const std::uint64_t root_;  // of the streams
  typename Criterion::Sides sides_;
  std::vector<Slot> cell_;
  UnfilledVector<std::uint32_t> moved_;  // places of rows
  std::vector<Code> present_;            // the categories of the node, ascending
  std::vector<std::uint8_t> goes_left_;  // for each category; 0 for those of no node
};

}  // namespace arboleda
