// Misclassification rate: 1 - max_k p_k.
// Hastie, Tibshirani, Friedman (2009), "The Elements of Statistical Learning", equation (9.17).
//
// W (1 - max_k p_k) = W - max_k W_k, so the score to maximise is max_k L_k + max_k R_k.
//
// Many splits score the same, above all those that do not improve the score yet. Among them the one with the
// smallest Gini index is taken: the first in order would cut off one row at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "criterion/gini.h"

namespace arboleda {

template <class Square>
class Misclassification {
 public:
  template <class Slot>
  void reset(std::span<const Slot> left, std::span<const Slot> right) {
    gini_.reset(left, right);
  }

  template <class Slot>
  void move(Slot left, Slot right, Slot weight) {
    gini_.move(left, right, weight);
  }

  template <class Slot>
  double score(std::span<const Slot> left, std::span<const Slot> right, std::uint64_t,
               std::uint64_t) const {
    return static_cast<double>(std::uint64_t{largest(left)} + largest(right));
  }

  double tie_break(std::uint64_t w_left, std::uint64_t w_right) const {
    return gini_.score(w_left, w_right);
  }

  template <class Slot>
  static double impurity(std::span<const Slot> weights, std::uint64_t whole) {
    return static_cast<double>(whole - largest(weights)) / static_cast<double>(whole);
  }

 private:
  template <class Slot>
  static Slot largest(std::span<const Slot> weights) {
    return *std::max_element(weights.begin(), weights.end());
  }

  Gini<Square> gini_;
};

}  // namespace arboleda
