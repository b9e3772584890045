// One scanner for every statistic and score: walks a feature's codes in ascending order, moving rows
// from the right side to the left, and keeps the best place to stop.
//
//   codes present in the node      2     5     9   | missing
//   scan 1, missing goes right     ^     ^     ^            three candidates: after 2, 5, 9
//   scan 2, missing goes left      ^     ^                  two: after 2, 5
//
// The rows come either as a histogram (a cell a code) or as a sorted list (a key a row); both move
// the same integers, so both give the same scores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "split/split.h"

namespace arboleda {

// A row in the sorted list of a feature: its code and its place in the node.
using SortKey = std::uint64_t;
inline SortKey make_key(Code code, std::size_t place) { return SortKey{code} << 32 | place; }
inline Code code_of(SortKey key) { return static_cast<Code>(key >> 32); }
inline std::size_t place_of(SortKey key) { return static_cast<std::uint32_t>(key); }

// Whether the sides of a split by a column with a direction keep to the limits of monotone predictions;
// other columns are free, because leaves beyond the bounds are drawn to them. Present values and missing
// ones, which the split after the last code parts, have no order.
template <class Sides>
bool keeps_order(const Sides& sides, const SplitLimits& limits, const Split& candidate) {
  if constexpr (requires { sides.value_left(); }) {
    if (limits.direction == 0 || candidate.next_code == Split::kNoCode) return true;
    const double left = sides.value_left();
    const double right = sides.value_right();
    return limits.bounds.hold(left) && limits.bounds.hold(right) &&
           (limits.direction > 0 ? left <= right : left >= right);
  }
  return true;
}

// Keeps the candidate if its sides are large enough and it is better: then true. The rows that go
// left are on the left.
template <class Sides>
bool consider(const Sides& sides, const SplitLimits& limits, Split& candidate, Split& best) {
  if (sides.n_left() < limits.min_rows || sides.n_right() < limits.min_rows) return false;
  if (sides.weight_left() < limits.min_weight || sides.weight_right() < limits.min_weight) {
    return false;
  }
  if (limits.is_monotonic && !keeps_order(sides, limits, candidate)) return false;
  candidate.score = sides.score();
  if (candidate.score < best.score) return false;
  candidate.tie_break = sides.tie_break();
  if (!candidate.better_than(best)) return false;
  best = candidate;
  return true;
}

template <class Sides>
class Scan {
 public:
  Scan(Sides& sides, const SplitLimits& limits, FeatureIndex feature, bool missing_left,
       Split& best)
      : sides_(sides), limits_(limits), best_(best) {
    candidate_.feature = feature;
    candidate_.missing_left = missing_left;
  }

  // Call before the rows of `code` move: the threshold lies between the last code and this one.
  void before(Code code) {
    if (seen_ && code != candidate_.code) consider(code);
    candidate_.code = code;
    seen_ = true;
  }

  // Call when all present rows are on the left and only missing ones on the right. Once a scan: its code
  // is not worth a copy in every loop.
  [[gnu::noinline]] void at_end() {
    if (seen_) consider(Split::kNoCode);
  }

 private:
  void consider(Code next_code) {
    candidate_.next_code = next_code;
    arboleda::consider(sides_, limits_, candidate_, best_);
  }

  Sides& sides_;
  const SplitLimits& limits_;
  Split& best_;
  Split candidate_;
  bool seen_ = false;
};

// Both scans over one feature. `move_missing()` moves the missing rows to the left; `walk(scan)`
// calls scan.before(code) and then moves that code's rows, code by code, ascending.
template <class Sides, class Slot, class MoveMissing, class Walk>
void scan_feature(Sides& sides, const Slot* total, std::uint64_t n_rows, bool has_missing,
                  const SplitLimits& limits, FeatureIndex feature, Split& best,
                  const MoveMissing& move_missing, const Walk& walk) {
  for (const bool missing_left : {false, true}) {
    sides.reset(total, n_rows);
    if (missing_left) move_missing();
    Scan<Sides> scan(sides, limits, feature, missing_left, best);
    walk(scan);
    if (!has_missing) return;
    if (!missing_left) scan.at_end();
  }
}

// histogram: a cell of criterion.width() slots for each of the n_values codes, then, where the
// column has missing values, one for them.
template <class Criterion>
void scan_histogram(const Criterion& criterion, const typename Criterion::Slot* histogram,
                    std::size_t n_values, bool column_has_missing,
                    const typename Criterion::Slot* total, std::uint64_t n_rows,
                    const SplitLimits& limits, FeatureIndex feature,
                    typename Criterion::Sides& sides, Split& best) {
  const std::size_t width = criterion.width();
  const auto* missing = histogram + n_values * width;
  scan_feature(
      sides, total, n_rows, column_has_missing && criterion.n_rows(missing) > 0, limits, feature,
      best, [&] { sides.move_cell(missing); },
      [&](auto& scan) {
        for (std::size_t code = 0; code < n_values; ++code) {
          const auto* cell = histogram + code * width;
          if (criterion.n_rows(cell) == 0) continue;
          scan.before(static_cast<Code>(code));
          sides.move_cell(cell);
        }
      });
}

// keys: a key for every row of the node, ascending; missing rows, of code n_values, are last.
template <class Criterion>
void scan_sorted(const Criterion& criterion, const typename Criterion::Local& local,
                 std::span<const SortKey> keys, std::size_t n_values,
                 const typename Criterion::Slot* total, const SplitLimits& limits,
                 FeatureIndex feature, typename Criterion::Sides& sides, Split& best) {
  std::size_t n_present = keys.size();
  while (n_present > 0 && code_of(keys[n_present - 1]) == n_values) --n_present;
  scan_feature(
      sides, total, keys.size(), n_present < keys.size(), limits, feature, best,
      [&] {
        for (const SortKey key : keys.subspan(n_present)) {
          criterion.move_row(local, place_of(key), sides);
        }
      },
      [&](auto& scan) {
        for (const SortKey key : keys.first(n_present)) {
          scan.before(code_of(key));
          criterion.move_row(local, place_of(key), sides);
        }
      });
}

// keys: the rows of the node that are listed in a sparse column, ascending; all others have the code
// `default_code`, and default_cell sums them up.
template <class Criterion>
void scan_sparse(const Criterion& criterion, const typename Criterion::Local& local,
                 std::span<const SortKey> keys, Code default_code,
                 const typename Criterion::Slot* default_cell, std::size_t n_values,
                 const typename Criterion::Slot* total, std::uint64_t n_rows,
                 const SplitLimits& limits, FeatureIndex feature, typename Criterion::Sides& sides,
                 Split& best) {
  std::size_t n_present = keys.size();
  while (n_present > 0 && code_of(keys[n_present - 1]) == n_values) --n_present;
  const auto first_above =
      std::partition_point(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n_present),
                           [&](SortKey key) { return code_of(key) < default_code; });
  const auto n_below = static_cast<std::size_t>(first_above - keys.begin());
  scan_feature(
      sides, total, n_rows, n_present < keys.size(), limits, feature, best,
      [&] {
        for (const SortKey key : keys.subspan(n_present)) {
          criterion.move_row(local, place_of(key), sides);
        }
      },
      [&](auto& scan) {
        const auto move = [&](std::span<const SortKey> part) {
          for (const SortKey key : part) {
            scan.before(code_of(key));
            criterion.move_row(local, place_of(key), sides);
          }
        };
        move(keys.first(n_below));
        if (keys.size() < n_rows) {
          scan.before(default_code);
          sides.move_cell(default_cell);
        }
        move(keys.subspan(n_below, n_present - n_below));
      });
}

}  // namespace arboleda
