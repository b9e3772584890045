// Several targets of a row at once, by one criterion: the impurity of a node is the mean of its
// outputs' impurities, and a leaf holds the values of all outputs.
// Segal, Xiao (2011), "Multivariate random forests", WIREs Data Mining and Knowledge Discovery 1(1).
//
// Cells and values stand one after the other, those of output 0 first:
//   cell    [ slots of output 0 | slots of output 1 | ... ]
//
// A criterion's numbers become the caller's when multiplied by 2^e (impurity_exponent). Outputs of
// different scale have different e: all are brought to the largest before they are summed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"

namespace arboleda {

template <class Criterion>
class MultiOutputSides {
 public:
  using Slot = typename Criterion::Slot;

  void add(typename Criterion::Sides sides, std::size_t width, int exponent) {
    outputs_.push_back({std::move(sides), width, exponent});
  }

  void reset(const Slot* total, std::uint64_t n_rows) {
    for (auto& output : outputs_) {
      output.sides.reset(total, n_rows);
      total += output.width;
    }
  }

  void move_cell(const Slot* cell)
    requires Criterion::kHasCells
  {
    for (auto& output : outputs_) {
      output.sides.move_cell(cell);
      cell += output.width;
    }
  }

  typename Criterion::Sides& sides_of(std::size_t k) { return outputs_[k].sides; }

  double score() const {
    double sum = 0.0;
    for (const auto& output : outputs_) sum += std::ldexp(output.sides.score(), output.exponent);
    return sum;
  }

  // Those that are not pure numbers are squares of targets, where the scores are targets.
  double tie_break() const {
    double sum = 0.0;
    for (const auto& output : outputs_) {
      sum += std::ldexp(output.sides.tie_break(), 2 * output.exponent);
    }
    return sum;
  }

  std::uint64_t n_left() const { return outputs_[0].sides.n_left(); }
  std::uint64_t n_right() const { return outputs_[0].sides.n_right(); }
  double weight_left() const { return outputs_[0].sides.weight_left(); }
  double weight_right() const { return outputs_[0].sides.weight_right(); }

 private:
  struct Output {
    typename Criterion::Sides sides;
    std::size_t width;
    int exponent;  // at most 0: from the output's scale to the common one
  };
  std::vector<Output> outputs_;
};

template <class Criterion>
class MultiOutput {
 public:
  using Slot = typename Criterion::Slot;
  using Sides = MultiOutputSides<Criterion>;
  static constexpr bool kHasCells = Criterion::kHasCells;
  static constexpr bool kSumsBinaryFeatures = false;

  struct Local {
    std::vector<typename Criterion::Local> of_output;
  };

  // One criterion for each output, over the same rows and weights.
  explicit MultiOutput(std::vector<Criterion> criteria) : criteria_(std::move(criteria)) {
    for (const auto& c : criteria_) exponent_ = std::max(exponent_, c.impurity_exponent());
  }

  bool is_ordered() const { return false; }

  std::size_t width() const { return sum_of(&Criterion::width); }
  std::size_t n_outputs() const { return sum_of(&Criterion::n_outputs); }

  Sides make_sides() const {
    Sides sides;
    for (const auto& c : criteria_) {
      sides.add(c.make_sides(), c.width(), c.impurity_exponent() - exponent_);
    }
    return sides;
  }

  void gather(std::span<const RowIndex> rows, Local& local) const {
    local.of_output.resize(criteria_.size());
    for (std::size_t k = 0; k < criteria_.size(); ++k) {
      criteria_[k].gather(rows, local.of_output[k]);
    }
  }

  void add(const Local& local, std::size_t i, Slot* cell) const {
    for_each(cell,
             [&](std::size_t k, Slot* part) { criteria_[k].add(local.of_output[k], i, part); });
  }

  // Of all rows of a node.
  void sum(const Local& local, Slot* cell) const {
    for_each(cell, [&](std::size_t k, Slot* part) { criteria_[k].sum(local.of_output[k], part); });
  }

  std::uint64_t n_rows(const Slot* cell) const { return criteria_[0].n_rows(cell); }

  void move_row(const Local& local, std::size_t i, Sides& sides) const {
    for (std::size_t k = 0; k < criteria_.size(); ++k) {
      criteria_[k].move_row(local.of_output[k], i, sides.sides_of(k));
    }
  }

  // Categories are tried in the orders of every output. An order is identified by its place among the
  // values of a leaf.
  void category_orders(const Slot* total, std::vector<std::uint32_t>& orders) const {
    std::vector<std::uint32_t> part;
    std::uint32_t start = 0;
    orders.clear();
    for_each(total, [&](std::size_t k, const Slot* of_output) {
      criteria_[k].category_orders(of_output, part);
      for (const std::uint32_t order : part) orders.push_back(start + order);
      start += static_cast<std::uint32_t>(criteria_[k].n_outputs());
    });
  }
  double category_key(const Slot* cell, std::uint32_t order) const {
    std::size_t k = 0;
    for (; order >= criteria_[k].n_outputs(); ++k) {
      order -= static_cast<std::uint32_t>(criteria_[k].n_outputs());
      cell += criteria_[k].width();
    }
    return criteria_[k].category_key(cell, order);
  }

  double weight(const Slot* total) const { return criteria_[0].weight(total); }
  double total_weight() const { return criteria_[0].total_weight(); }
  double weight_unit() const { return criteria_[0].weight_unit(); }

  bool is_pure(const Local& local, const Slot* total) const {
    bool pure = true;
    for_each(total, [&](std::size_t k, const Slot* part) {
      pure = pure && criteria_[k].is_pure(local.of_output[k], part);
    });
    return pure;
  }

  int impurity_exponent() const { return exponent_; }
  double impurity(const Local& local, const Slot* total) const {
    double sum = 0.0;
    for_each(total, [&](std::size_t k, const Slot* part) {
      const double impurity = criteria_[k].impurity(local.of_output[k], part);
      sum += std::ldexp(impurity, criteria_[k].impurity_exponent() - exponent_);
    });
    return sum / static_cast<double>(criteria_.size());
  }

  void value(std::span<const RowIndex> rows, const Local& local, const Slot* total,
             double* out) const {
    for_each(total, [&](std::size_t k, const Slot* part) {
      criteria_[k].value(rows, local.of_output[k], part, out);
      out += criteria_[k].n_outputs();
    });
  }

 private:
  // Calls action(output, its part of the cell).
  template <class SlotType, class Action>
  void for_each(SlotType* cell, const Action& action) const {
    for (std::size_t k = 0; k < criteria_.size(); ++k) {
      action(k, cell);
      cell += criteria_[k].width();
    }
  }

  std::size_t sum_of(std::size_t (Criterion::*number)() const) const {
    std::size_t sum = 0;
    for (const auto& c : criteria_) sum += (c.*number)();
    return sum;
  }

  std::vector<Criterion> criteria_;
  int exponent_ = std::numeric_limits<int>::min();
};

}  // namespace arboleda
