// Misclassification rate: 1 - max_k p_k.
// Hastie, Tibshirani, Friedman (2009), "The Elements of Statistical Learning", equation (9.17).
//
// W (1 - max_k p_k) = W - max_k W_k, so the score to maximise is max_k L_k + max_k R_k.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace arboleda {

template <class Square>
class Misclassification {
 public:
  template <class Slot>
  void reset(std::span<const Slot>) {}

  template <class Slot>
  void move(Slot, Slot, Slot) {}

  template <class Slot>
  double score(std::span<const Slot> left, std::span<const Slot> right, std::uint64_t,
               std::uint64_t) const {
    return static_cast<double>(std::uint64_t{largest(left)} + largest(right));
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
};

}  // namespace arboleda
