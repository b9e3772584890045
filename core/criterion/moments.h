// The statistic of a mean: number of rows, sum of weights, sum of weight x target.
//
// Targets are integers q_i (base/fixed_point.h). Integers that cannot overflow: the weights take b
// bits in total and |q| <= 2^t,
//   narrow (Sum = 64 bits):   b + t <= 61 (one bit more for q - m); used for unit weights and when
//                             this leaves t >= 40
//   wide   (Sum = 128 bits):  b <= 52, t = 50
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/fixed_point.h"
#include "base/memory.h"
#include "base/shards.h"
#include "base/types.h"
#include "criterion/shared_node.h"
#include "data/fixed_weights.h"
#include "simd/kernels.h"

namespace arboleda {

inline constexpr int kWideWeightBits = 52;
inline constexpr int kWideTargetBits = 50;
inline constexpr int kNarrowBits = 61;
inline constexpr int kNarrowEnoughTargetBits = 40;

template <class Sum>
struct Moments {
  Sum sum = 0;              // of w q
  std::int64_t weight = 0;  // of w
  std::int64_t n_rows = 0;

  void add(Sum wq, std::int64_t w, std::int64_t n) {
    sum += wq;
    weight += w;
    n_rows += n;
  }
  double mean() const { return static_cast<double>(sum) / static_cast<double>(weight); }

  // As words that shards add up, the number of rows last. A sum of 64 bits may wrap around meanwhile.
  static constexpr std::size_t kSumWords = sizeof(Sum) == sizeof(std::int64_t) ? 1 : kLimbs;
  void write(std::uint64_t* words) const {
    if constexpr (kSumWords == 1) {
      words[0] = static_cast<std::uint64_t>(sum);
    } else {
      write_limbs(sum, words);
    }
    words[kSumWords] = static_cast<std::uint64_t>(weight);
    words[kSumWords + 1] = static_cast<std::uint64_t>(n_rows);
  }
  static Moments read(const std::uint64_t* words) {
    Moments moments;
    if constexpr (kSumWords == 1) {
      moments.sum = static_cast<std::int64_t>(words[0]);
    } else {
      moments.sum = read_limbs(words);
    }
    moments.weight = static_cast<std::int64_t>(words[kSumWords]);
    moments.n_rows = static_cast<std::int64_t>(words[kSumWords + 1]);
    return moments;
  }

  friend Moments operator+(const Moments& a, const Moments& b) {
    return {a.sum + b.sum, a.weight + b.weight, a.n_rows + b.n_rows};
  }
  friend Moments operator-(const Moments& a, const Moments& b) {
    return {a.sum - b.sum, a.weight - b.weight, a.n_rows - b.n_rows};
  }
};

// The integer next to a node's mean, and what it lacks to the exact mean. Sums about it do not cancel
// where the mean is large beside the spread.
template <class Sum>
struct NodeMean {
  std::int64_t whole = 0;
  double rest = 0.0;

  NodeMean() = default;
  explicit NodeMean(const Moments<Sum>& total)
      : whole(std::llround(total.mean())),
        rest(static_cast<double>(total.sum - Sum{whole} * Sum{total.weight}) /
             static_cast<double>(total.weight)) {}

  double value() const { return static_cast<double>(whole) + rest; }
};

// The moments on both sides of a threshold that moves to the right, sums about `centre`.
template <class Sum>
class MomentSides {
 public:
  using Slot = Moments<Sum>;

  void reset(const Slot* total, std::uint64_t) {
    // Every feature of a node begins with the same total.
    if (total->sum != known_.sum || total->weight != known_.weight) {
      known_ = *total;
      centre_ = NodeMean<Sum>(*total).whole;
    }
    left_ = {};
    right_ = *total;
    right_.sum -= Sum{centre_} * Sum{total->weight};
  }

  void move_cell(const Slot* cell) {
    move(cell->sum - Sum{centre_} * Sum{cell->weight}, cell->weight, cell->n_rows);
  }
  void move_row(std::int64_t target, std::int64_t weight) {
    move(Sum{target - centre_} * Sum{weight}, weight, 1);
  }

  std::int64_t centre() const { return centre_; }
  const Slot& left() const { return left_; }
  const Slot& right() const { return right_; }

  std::uint64_t n_left() const { return static_cast<std::uint64_t>(left_.n_rows); }
  std::uint64_t n_right() const { return static_cast<std::uint64_t>(right_.n_rows); }
  double weight_left() const { return static_cast<double>(left_.weight); }
  double weight_right() const { return static_cast<double>(right_.weight); }
  double value_left() const { return left_.mean() + static_cast<double>(centre_); }
  double value_right() const { return right_.mean() + static_cast<double>(centre_); }

 private:
  void move(Sum sum, std::int64_t weight, std::int64_t n_rows) {
    left_.add(sum, weight, n_rows);
    right_.add(-sum, -weight, -n_rows);
  }

  Slot known_;  // whose centre this is
  std::int64_t centre_ = 0;
  Slot left_, right_;
};

// What criteria of a mean share: all but the score and the impurity.
template <class Sum, bool kWeighted>
class MeanCriterion {
 public:
  using Slot = Moments<Sum>;
  static constexpr bool kHasCells = true;  // a node's statistic is the sum of its rows' cells
  static constexpr bool kSumsBinaryFeatures = false;
  static constexpr bool kScoresBinaryFeatures = false;

  struct Local {
    UnfilledVector<std::int64_t> target;
    UnfilledVector<std::int64_t> weight;  // empty for unit weights
  };

  // y: the targets before they became `targets`. All must outlive the criterion.
  MeanCriterion(std::span<const double> y, const FixedTargets& targets, const FixedWeights& weights)
      : y_(y), targets_(targets), weights_(weights) {}

  std::size_t width() const { return 1; }
  std::size_t n_outputs() const { return 1; }

  void gather(std::span<const RowIndex> rows, Local& local) const {
    local.target.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) local.target[i] = targets_.value[rows[i]];
    if constexpr (kWeighted) {
      local.weight.resize(rows.size());
      if (weights_.is_unit()) {
        std::ranges::fill(local.weight, 1);
        return;
      }
      for (std::size_t i = 0; i < rows.size(); ++i) {
        local.weight[i] = static_cast<std::int64_t>(weights_.value[rows[i]]);
      }
    }
  }

  static std::int64_t weight_of(const Local& local, std::size_t i) {
    if constexpr (kWeighted) return local.weight[i];
    return 1;
  }

  void add(const Local& local, std::size_t i, Slot* cell) const {
    const std::int64_t w = weight_of(local, i);
    cell->add(Sum{local.target[i]} * Sum{w}, w, 1);
  }

  // Of all rows of a node.
  void sum(const Local& local, Slot* cell) const {
    *cell = {};
    for (std::size_t i = 0; i < local.target.size(); ++i) add(local, i, cell);
  }

  // Of the rows i of a node for which is_in(i). True: it can be summed up.
  template <class IsIn>
  bool sum_if(const Local& local, const IsIn& is_in, Slot* cell) const {
    *cell = {};
    for (std::size_t i = 0; i < local.target.size(); ++i) {
      const std::int64_t one = is_in(i) ? 1 : 0;
      const std::int64_t w = weight_of(local, i);
      cell->add(-Sum{one} & (Sum{local.target[i]} * Sum{w}), -one & w, one);
    }
    return true;
  }

  std::uint64_t n_rows(const Slot* cell) const { return static_cast<std::uint64_t>(cell->n_rows); }

  template <class Sides>
  void move_row(const Local& local, std::size_t i, Sides& sides) const {
    sides.move_row(local.target[i], weight_of(local, i));
  }

  // Categories are tried in the order of their means.
  void category_orders(const Slot*, std::vector<std::uint32_t>& orders) const {
    orders.assign(1, 0);
  }
  double category_key(const Slot* cell, std::uint32_t) const { return cell->mean(); }

  // In the unit of Sides::weight_left(); times weight_unit() it is the weight of the caller.
  double weight(const Slot* total) const { return static_cast<double>(total->weight); }
  double total_weight() const { return static_cast<double>(weights_.total); }
  double weight_unit() const { return weights_.unit; }

  bool is_pure(const Local& local, const Slot*) const {
    const MinMax range = kernels().min_max(local.target.data(), local.target.size());
    return range.min == range.max;
  }

  // The weighted mean, and exactly the target where all are equal; the smallest of them where they
  // differ by less than their integers resolve.
  void value(std::span<const RowIndex> rows, const Local& local, const Slot* total,
             double* out) const {
    if (rows.size() == 1) {
      *out = y_[rows[0]] + 0.0;
      return;
    }
    const MinMax range = kernels().min_max(local.target.data(), local.target.size());
    const double lowest = extreme(rows, local, range.min, std::less<>());
    if (range.min == range.max) {
      *out = lowest;
    } else {
      const double highest = extreme(rows, local, range.max, std::greater<>());
      *out = mean_within(total, lowest, highest);
    }
  }

  // Of a node whose rows are in several shards: its cells as words, what else of its rows decides, and what
  // follows from all of it, as impurity(), is_pure() and value() above.
  static constexpr bool kSumsOverShards = kWeighted;
  static constexpr bool kHasRange = true;  // of targets
  std::size_t n_words() const { return Slot::kSumWords + 2; }
  void write_cell(const Slot* cell, std::uint64_t* words) const { cell->write(words); }
  void read_cell(const std::uint64_t* words, Slot* cell) const { *cell = Slot::read(words); }

  void see_range(std::span<const RowIndex> rows, const Local& local, TargetRange& range) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      range.lowest = std::min(range.lowest, y_[rows[i]]);
      range.highest = std::max(range.highest, y_[rows[i]]);
      range.units.min = std::min(range.units.min, local.target[i]);
      range.units.max = std::max(range.units.max, local.target[i]);
    }
  }
  bool is_pure(const Slot*, const TargetRange& range) const {
    return range.units.min == range.units.max;
  }
  void shared_value(const Slot* total, const TargetRange& range, double* out) const {
    *out = range.units.min == range.units.max ? range.lowest + 0.0
                                              : mean_within(total, range.lowest, range.highest);
  }

  // For monotone predictions: their place among the outputs, and the unit of sides.
  bool is_ordered() const { return true; }
  static constexpr std::size_t kOrderedOutput = 0;
  double to_units(double value) const { return targets_.to_units(value); }
  void set_ordered(double value, double* out) const { *out = value; }

 protected:
  const FixedTargets& targets() const { return targets_; }

 private:
  double mean_within(const Slot* total, double lowest, double highest) const {
    return std::clamp(targets_.to_real(NodeMean<Sum>(*total).value()), lowest, highest);
  }

  // The first in order among the real targets of one integer: of several, none may depend on the
  // order of rows, not even the sign of a zero.
  template <class Before>
  double extreme(std::span<const RowIndex> rows, const Local& local, std::int64_t integer,
                 const Before& before) const {
    const auto find_from = [&, find = kernels().find](std::size_t i) {
      return i + find(local.target.data() + i, local.target.size() - i, integer);
    };
    std::size_t i = find_from(0);
    double found = y_[rows[i]];
    while ((i = find_from(i + 1)) < rows.size()) {
      if (before(y_[rows[i]], found)) found = y_[rows[i]];
    }
    return found + 0.0;
  }

  std::span<const double> y_;
  const FixedTargets& targets_;
  const FixedWeights& weights_;
};

}  // namespace arboleda
