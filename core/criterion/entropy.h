// Entropy in bits: -sum_k p_k log2 p_k; its decrease is the information gain.
// Shannon (1948); Quinlan (1986), "Induction of decision trees", Machine Learning 1.
//
// With f(x) = x log2 x, W entropy = f(W) - sum_k f(W_k), so the score to maximise is
//   sum_k f(L_k) - f(W_L) + sum_k f(R_k) - f(W_R).
#pragma once

#include <cstdint>
#include <span>

#include "base/log2.h"

namespace arboleda {

template <class Square>
class Entropy {
 public:
  template <class Slot>
  void reset(std::span<const Slot>, std::span<const Slot>) {}

  template <class Slot>
  void move(Slot, Slot, Slot) {}

  template <class Slot>
  double score(std::span<const Slot> left, std::span<const Slot> right, std::uint64_t w_left,
               std::uint64_t w_right) const {
    return negative_bits(left, w_left) + negative_bits(right, w_right);
  }

  double tie_break(std::uint64_t, std::uint64_t) const { return 0.0; }

  template <class Slot>
  static double impurity(std::span<const Slot> weights, std::uint64_t whole) {
    const double bits = -negative_bits(weights, whole) / static_cast<double>(whole);
    return bits > 0.0 ? bits : 0.0;  // rounding may leave -1e-17
  }

 private:
  template <class Slot>
  static double negative_bits(std::span<const Slot> weights, std::uint64_t whole) {
    double sum = 0.0;
    for (const Slot w : weights) sum += xlog2x(static_cast<double>(w));
    return sum - xlog2x(static_cast<double>(whole));
  }
};

}  // namespace arboleda
