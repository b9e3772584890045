// The statistic of classification: the weight of each class.
//
// A cell holds `width()` slots, [ w_0, w_1, ..., w_{K-1}, n rows ], of
//   narrow   uint32   weights of one and of a few: a plain table, a bootstrap sample
//   wide     uint64   any weights in fixed point
//
// A Measure turns the class weights on the two sides of a threshold into a score: the larger, the
// smaller the weighted impurity of the two sides. Of splits with equal scores the one with the
// larger tie_break() is preferred. It is one of gini.h, entropy.h, misclassification.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "criterion/shared_node.h"
#include "data/fixed_weights.h"
#include "simd/kernels.h"

namespace arboleda {

// The class weights on both sides of a threshold that moves to the right.
template <class SlotType, template <class> class MeasureOf>
class ClassSides {
 public:
  using Slot = SlotType;
  // Holds the square of a total weight. Signed while it can be: it is a double sooner.
  using Square = std::conditional_t<sizeof(Slot) == 4, std::int64_t, UInt128>;

  explicit ClassSides(std::size_t n_classes) : left_(n_classes), right_(n_classes) {}

  // Everything is on the right.
  void reset(const Slot* total, std::uint64_t n_rows) {
    n_left_ = 0;
    n_right_ = n_rows;
    w_left_ = 0;
    w_right_ = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      left_[k] = 0;
      right_[k] = total[k];
      w_right_ += total[k];
    }
    measure_.reset(std::span<const Slot>(left_), std::span<const Slot>(right_));
  }

  void move_cell(const Slot* cell) {
    for (std::size_t k = 0; k < left_.size(); ++k) {
      if (cell[k] != 0) move(k, cell[k]);
    }
    n_left_ += cell[left_.size()];
    n_right_ -= cell[left_.size()];
  }

  // The rows of the cell are on the right, all others of the node on the left.
  void part(const Slot* total, const Slot* cell) {
    w_left_ = 0;
    w_right_ = 0;
    for (std::size_t k = 0; k < left_.size(); ++k) {
      right_[k] = cell[k];
      left_[k] = total[k] - cell[k];
      w_right_ += cell[k];
      w_left_ += left_[k];
    }
    n_right_ = cell[left_.size()];
    n_left_ = total[left_.size()] - n_right_;
    measure_.reset(std::span<const Slot>(left_), std::span<const Slot>(right_));
  }

  void move_row(std::uint32_t label, std::uint64_t weight) {
    move(label, static_cast<Slot>(weight));
    ++n_left_;
    --n_right_;
  }

  double score() const {
    return measure_.score(std::span<const Slot>(left_), std::span<const Slot>(right_), w_left_,
                          w_right_);
  }

  double tie_break() const { return measure_.tie_break(w_left_, w_right_); }

  std::uint64_t n_left() const { return n_left_; }
  std::uint64_t n_right() const { return n_right_; }
  double weight_left() const { return static_cast<double>(w_left_); }
  double weight_right() const { return static_cast<double>(w_right_); }

  // Of two classes: the share of the second.
  double value_left() const { return static_cast<double>(left_[1]) / weight_left(); }
  double value_right() const { return static_cast<double>(right_[1]) / weight_right(); }

 private:
  void move(std::size_t k, Slot weight) {
    measure_.move(left_[k], right_[k], weight);
    left_[k] += weight;
    right_[k] -= weight;
    w_left_ += weight;
    w_right_ -= weight;
  }

  std::vector<Slot> left_, right_;
  std::uint64_t w_left_ = 0, w_right_ = 0, n_left_ = 0, n_right_ = 0;
  MeasureOf<Square> measure_;
};

// With many classes, categories are ordered by the shares of this many.
inline constexpr std::size_t kCategoryOrders = 10;

// Whether cells of 32 bits hold these weights: their squares then fit 62 bits.
inline bool fits_narrow(const FixedWeights& weights, std::size_t n_classes) {
  const auto fits = [](std::uint64_t w) { return w <= UINT16_MAX; };
  return n_classes <= UINT16_MAX && fits(weights.largest) &&
         weights.total < std::uint64_t{1} << 31 &&
         std::all_of(weights.value.begin(), weights.value.end(), fits);
}

// A criterion: the targets of all rows, and all that the grower needs of them.
template <class SlotType, template <class> class MeasureOf>
class ClassCriterion {
 public:
  using Slot = SlotType;
  using Sides = ClassSides<Slot, MeasureOf>;
  static constexpr bool kNarrow = sizeof(Slot) == 4;
  static constexpr bool kHasCells = true;  // a node's statistic is the sum of its rows' cells
  static constexpr bool kSumsBinaryFeatures =
      kNarrow;  // kernels().binary_features supports its rows
  // kernels().split_scores has the score.
  static constexpr bool kScoresBinaryFeatures =
      kNarrow && requires { MeasureOf<typename Sides::Square>::kScoresBinaryFeatures; };
  static constexpr bool kScoresRuns = kScoresBinaryFeatures;

  struct WideEntry {
    std::uint32_t label;
    std::uint64_t weight;
  };
  using Entry = std::conditional_t<kNarrow, ClassEntry, WideEntry>;

  // What the rows of one node contribute, in the order of its row list.
  struct Local {
    UnfilledVector<Entry> entry;
  };

  // labels: one a row, each below n_classes. Both must outlive the criterion. Narrow: the weights
  // must fit.
  ClassCriterion(std::span<const std::uint32_t> labels, std::size_t n_classes,
                 const FixedWeights& weights)
      : labels_(labels), n_classes_(n_classes), weights_(weights) {
    if constexpr (kNarrow) {
      entries_.resize(labels.size());
      max_weight_ = static_cast<std::uint16_t>(weights.largest);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        entries_[i] = {static_cast<std::uint16_t>(labels[i]),
                       static_cast<std::uint16_t>(weight_of(i))};
        max_weight_ = std::max(max_weight_, entries_[i].weight);
      }
    }
  }

  std::uint16_t max_weight() const { return max_weight_; }  // of a row; narrow only

  std::size_t width() const { return n_classes_ + 1; }
  std::size_t n_outputs() const { return n_classes_; }
  Sides make_sides() const { return Sides(n_classes_); }

  void gather(std::span<const RowIndex> rows, Local& local) const {
    local.entry.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if constexpr (kNarrow) {
        local.entry[i] = entries_[rows[i]];
      } else {
        local.entry[i] = {labels_[rows[i]], weight_of(rows[i])};
      }
    }
  }

  void add(const Local& local, std::size_t i, Slot* cell) const {
    cell[local.entry[i].label] += local.entry[i].weight;
    ++cell[n_classes_];
  }

  // Of all rows of a node.
  void sum(const Local& local, Slot* cell) const {
    std::fill_n(cell, n_classes_, Slot{});
    if (n_classes_ == 2) {  // many rows at a time
      Slot all = 0, second = 0;
      for (const Entry& entry : local.entry) {
        all += entry.weight;
        second += entry.label * static_cast<Slot>(entry.weight);
      }
      cell[0] = all - second;
      cell[1] = second;
    } else {
      for (const Entry& entry : local.entry) cell[entry.label] += entry.weight;
    }
    cell[n_classes_] = static_cast<Slot>(local.entry.size());
  }

  // Of the rows i of a node for which is_in(i), of two classes: many rows at a time. False, and nothing
  // done, for more classes.
  template <class IsIn>
  bool sum_if(const Local& local, const IsIn& is_in, Slot* cell) const {
    if (n_classes_ != 2) return false;
    Slot all = 0, second = 0, n = 0;
    for (std::size_t i = 0; i < local.entry.size(); ++i) {
      const Slot one = is_in(i) ? 1 : 0;
      const Slot weight = (Slot{0} - one) & static_cast<Slot>(local.entry[i].weight);
      n += one;
      all += weight;
      second += local.entry[i].label * weight;
    }
    cell[0] = all - second;
    cell[1] = second;
    cell[2] = n;
    return true;
  }

  std::uint64_t n_rows(const Slot* cell) const { return cell[n_classes_]; }

  void move_row(const Local& local, std::size_t i, Sides& sides) const {
    sides.move_row(local.entry[i].label, local.entry[i].weight);
  }

  // The orders in which categories are tried: by the share of one class, for each of the largest
  // classes; one order is enough for two classes.
  void category_orders(const Slot* total, std::vector<std::uint32_t>& orders) const {
    orders.clear();
    for (std::uint32_t k = 0; k < n_classes_; ++k) {
      if (total[k] > 0) orders.push_back(k);
    }
    std::sort(orders.begin(), orders.end(), [&](std::uint32_t a, std::uint32_t b) {
      return total[a] > total[b] || (total[a] == total[b] && a < b);
    });
    orders.resize(orders.size() == 2 ? 1 : std::min(orders.size(), kCategoryOrders));
  }
  double category_key(const Slot* cell, std::uint32_t order) const {
    return static_cast<double>(cell[order]) / static_cast<double>(whole(cell));
  }

  // In the unit of Sides::weight_left(); times weight_unit() it is the weight of the caller.
  double weight(const Slot* total) const { return static_cast<double>(whole(total)); }
  double total_weight() const { return static_cast<double>(weights_.total); }
  double weight_unit() const { return weights_.unit; }

  bool is_pure(const Local&, const Slot* total) const {
    return *std::max_element(total, total + n_classes_) == whole(total);
  }

  // Times 2^impurity_exponent() it is the impurity of the caller.
  int impurity_exponent() const { return 0; }
  double impurity(const Local&, const Slot* total) const {
    return MeasureOf<typename Sides::Square>::impurity(std::span(total, n_classes_), whole(total));
  }

  // The share of each class.
  void value(std::span<const RowIndex>, const Local&, const Slot* total, double* out) const {
    const auto w = static_cast<double>(whole(total));
    for (std::size_t k = 0; k < n_classes_; ++k) out[k] = static_cast<double>(total[k]) / w;
  }

  // Of a node whose rows are in several shards: its cells as words, the number of rows last. Nothing else of its
  // rows decides.
  static constexpr bool kSumsOverShards = !kNarrow;
  static constexpr bool kHasRange = false;
  std::size_t n_words() const { return width(); }
  void write_cell(const Slot* cell, std::uint64_t* words) const {
    std::copy_n(cell, width(), words);
  }
  void read_cell(const std::uint64_t* words, Slot* cell) const {
    std::copy_n(words, width(), cell);
  }
  bool is_pure(const Slot* total, const TargetRange&) const { return is_pure(Local(), total); }
  double shared_impurity(Int128, const Slot* total, const TargetRange&) const {
    return impurity(Local(), total);
  }
  void shared_value(const Slot* total, const TargetRange&, double* out) const {
    value({}, Local(), total, out);
  }

  // For monotone predictions: there are some, their place among the outputs, and the unit of sides.
  bool is_ordered() const { return n_classes_ == 2; }
  static constexpr std::size_t kOrderedOutput = 1;
  double to_units(double value) const { return value; }
  void set_ordered(double value, double* out) const {
    out[0] = 1.0 - value;
    out[1] = value;
  }

 private:
  std::uint64_t whole(const Slot* total) const {
    std::uint64_t w = 0;
    for (std::size_t k = 0; k < n_classes_; ++k) w += total[k];
    return w;
  }

  std::uint64_t weight_of(std::size_t row) const {
    return weights_.is_unit() ? 1 : weights_.value[row];
  }

  std::span<const std::uint32_t> labels_;
  std::size_t n_classes_;
  const FixedWeights& weights_;
  std::vector<ClassEntry> entries_;  // of all rows; none if wide
  std::uint16_t max_weight_ = 0;
};

}  // namespace arboleda
