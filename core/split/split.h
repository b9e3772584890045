// A split of one node on one feature, and the order in which splits are preferred.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/types.h"

namespace arboleda {

// By threshold: rows with code <= `code` go left; rows of the missing code go left if `missing_left`.
// By category: rows whose code is among `left_codes` go left.
struct Split {
  static constexpr Code kNoCode = std::numeric_limits<Code>::max();

  double score = -std::numeric_limits<double>::infinity();
  double tie_break = 0.0;
  FeatureIndex feature = -1;
  Code code = 0;             // the largest present code on the left
  Code next_code = kNoCode;  // the smallest present code on the right; none: "present or missing"
  bool missing_left = false;
  double threshold = std::numeric_limits<double>::quiet_NaN();  // NaN: midway between the codes
  std::vector<Code> left_codes;                                 // ascending; none: by threshold

  bool found() const { return feature >= 0; }

  // By (score, tie_break, feature); within a feature the scan keeps the first, lowest threshold.
  bool better_than(const Split& other) const {
    if (score != other.score) return score > other.score;
    if (tie_break != other.tie_break) return tie_break > other.tie_break;
    return found() && feature < other.feature;
  }
};

// An interval of predictions.
struct Bounds {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  bool hold(double value) const { return value >= lower && value <= upper; }
  double clamped(double value) const { return std::clamp(value, lower, upper); }
};

// What a split must leave on each side.
struct SplitLimits {
  std::uint64_t min_rows = 1;
  double min_weight = 0.0;  // in the units of the statistic

  // Where predictions are to follow the order of some columns: both sides' lie within the bounds, in
  // the units of the statistic, and rise (1) or fall (-1) with the values of the feature; 0: any.
  bool is_monotonic = false;
  std::int8_t direction = 0;
  Bounds bounds = {};
};

}  // namespace arboleda
