// The statistic of labels: what each class k of each row i weighs, D(i, k). Boosting of several classes
// weighs every class of a row by itself (Freund & Schapire 1997; Schapire & Singer 1999).
//
// Sums are sums of integers: D(i, k) is rounded to units of 2^-51, and integers below 2^53 are exact in
// a double. A cell holds, for the rows that it sums up,
//
//   [ the measure's slots | sum_i sum_k D(i, k) | n rows ]
//
// A Measure defines its slots and scores the two sides of a threshold: the larger, the
// better. Of splits with equal scores the one with the larger tie_break() is preferred. It is one of
// hamming.h, label_ranking.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace arboleda {

struct LabelWeights {
  std::size_t n_classes = 0;
  std::vector<double> value;  // rows x classes, row-major: whole numbers, not negative
  std::vector<double> row;    // the sum of each row
  std::vector<bool> dropped;  // rows whose sum is 0
  double total = 0.0;         // of all
  double unit = 1.0;          // the weight of one
};

// weights: rows x classes, row-major, not negative, of sum 1 up to rounding. sits_out: one a row, or
// empty; rows that sit out weigh nothing.
inline void fix_label_weights(std::span<const double> weights, std::size_t n_classes,
                              std::span<const std::uint8_t> sits_out, LabelWeights& fixed) {
  constexpr int kBits = 51;
  const std::size_t n_rows = weights.size() / n_classes;
  fixed.n_classes = n_classes;
  fixed.value.resize(weights.size());
  fixed.row.assign(n_rows, 0.0);
  fixed.dropped.assign(n_rows, false);
  fixed.total = 0.0;
  fixed.unit = std::ldexp(1.0, -kBits);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const bool counts = sits_out.empty() || sits_out[i] == 0;
    const double units = counts ? std::ldexp(1.0, kBits) : 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const std::size_t at = i * n_classes + k;
      fixed.value[at] = std::nearbyint(weights[at] * units);
      fixed.row[i] += fixed.value[at];
    }
    fixed.dropped[i] = fixed.row[i] == 0.0;
    fixed.total += fixed.row[i];
  }
  require(fixed.total > 0.0 && fixed.total < std::ldexp(1.0, kBits + 1),
          "the weights of labels do not sum to 1: lower learning_rate");
}

// What the measures see of a row.
struct LabelRow {
  const double* weight;  // of each class
  double whole;          // their sum
  std::uint32_t label;
};

// The sums on both sides of a threshold that moves to the right: those of the right are what the left
// lacks to the whole.
template <class Measure>
class LabelSides {
 public:
  using Slot = double;

  explicit LabelSides(std::size_t n_classes)
      : n_classes_(n_classes), left_(Measure::n_slots(n_classes) + 2), total_(left_.size()) {}

  void reset(const Slot* total, std::uint64_t) {
    std::fill(left_.begin(), left_.end(), 0.0);
    std::copy_n(total, total_.size(), total_.begin());
  }

  void move_cell(const Slot* cell) {
    for (std::size_t s = 0; s < left_.size(); ++s) left_[s] += cell[s];
  }

  Slot* left() { return left_.data(); }

  double score() const { return Measure::score(left_.data(), total_.data(), n_classes_); }
  double tie_break() const { return Measure::tie_break(left_.data(), total_.data(), n_classes_); }

  std::uint64_t n_left() const { return static_cast<std::uint64_t>(left_.back()); }
  std::uint64_t n_right() const { return static_cast<std::uint64_t>(total_.back() - left_.back()); }
  double weight_left() const { return left_[left_.size() - 2]; }
  double weight_right() const { return total_[left_.size() - 2] - weight_left(); }

 private:
  std::size_t n_classes_;
  std::vector<Slot> left_, total_;
};

// With many classes, categories are ordered by this many of them.
inline constexpr std::size_t kLabelOrders = 10;

// A criterion: the weights of all rows, and all that the grower needs of them.
template <class MeasureType>
class LabelCriterion {
 public:
  using Measure = MeasureType;
  using Slot = double;
  using Sides = LabelSides<Measure>;
  static constexpr bool kHasCells = true;  // a node's statistic is the sum of its rows' cells
  static constexpr bool kSumsBinaryFeatures = false;

  // The rows of one node. Their weights are read where they are: a copy would cost as much as reading.
  struct Local {
    std::span<const RowIndex> rows;
  };

  // labels: one a row, each a class. Both must outlive the criterion.
  LabelCriterion(std::span<const std::uint32_t> labels, const LabelWeights& weights,
                 const Measure& measure)
      : labels_(labels), weights_(weights), measure_(measure) {}

  std::size_t width() const { return n_slots() + 2; }
  std::size_t n_outputs() const { return weights_.n_classes; }
  Sides make_sides() const { return Sides(weights_.n_classes); }

  void gather(std::span<const RowIndex> rows, Local& local) const { local.rows = rows; }

  void add(const Local& local, std::size_t i, Slot* cell) const {
    const RowIndex row = local.rows[i];
    const LabelRow of_row{&weights_.value[row * weights_.n_classes], weights_.row[row],
                          labels_[row]};
    Measure::add(of_row, weights_.n_classes, cell);
    cell[n_slots()] += of_row.whole;
    cell[n_slots() + 1] += 1.0;
  }

  // Of all rows of a node.
  void sum(const Local& local, Slot* cell) const {
    std::fill_n(cell, width(), 0.0);
    for (std::size_t i = 0; i < local.rows.size(); ++i) add(local, i, cell);
  }

  std::uint64_t n_rows(const Slot* cell) const {
    return static_cast<std::uint64_t>(cell[n_slots() + 1]);
  }

  void move_row(const Local& local, std::size_t i, Sides& sides) const {
    add(local, i, sides.left());
  }

  // The orders in which categories are tried: by what each class has in them, for the classes that have
  // most in the node; one order is enough for two classes.
  void category_orders(const Slot* total, std::vector<std::uint32_t>& orders) const {
    orders.clear();
    for (std::uint32_t k = 0; k < weights_.n_classes; ++k) orders.push_back(k);
    std::sort(orders.begin(), orders.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double of_a = Measure::amount(total, a, weights_.n_classes);
      const double of_b = Measure::amount(total, b, weights_.n_classes);
      return of_a > of_b || (of_a == of_b && a < b);
    });
    orders.resize(orders.size() == 2 ? 1 : std::min(orders.size(), kLabelOrders));
  }
  double category_key(const Slot* cell, std::uint32_t order) const {
    return Measure::share(cell, order, weights_.n_classes, weight(cell));
  }

  // In the unit of Sides::weight_left(); times weight_unit() it is the weight of the caller.
  double weight(const Slot* total) const { return total[n_slots()]; }
  double total_weight() const { return weights_.total; }
  double weight_unit() const { return weights_.unit; }

  // No split can do better than the node itself.
  bool is_pure(const Local&, const Slot* total) const {
    return Measure::is_pure(total, weights_.n_classes, weight(total));
  }

  // From 0, where the node is pure, to 1. Times 2^impurity_exponent() it is the impurity of the caller.
  int impurity_exponent() const { return 0; }
  double impurity(const Local&, const Slot* total) const {
    return Measure::impurity(total, weights_.n_classes, weight(total));
  }

  // The leaf's vote for each class.
  void value(std::span<const RowIndex>, const Local&, const Slot* total, double* out) const {
    measure_.value(total, weights_.n_classes, out);
  }

  bool is_ordered() const { return false; }

 private:
  std::size_t n_slots() const { return Measure::n_slots(weights_.n_classes); }

  std::span<const std::uint32_t> labels_;
  const LabelWeights& weights_;
  Measure measure_;
};

}  // namespace arboleda
