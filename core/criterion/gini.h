// Gini index: sum_k p_k (1 - p_k) = 1 - sum_k p_k^2.
// Breiman, Friedman, Olshen, Stone (1984), "Classification and Regression Trees", section 4.3.
//
// Minimising W_L gini_L + W_R gini_R is maximising  sum_k L_k^2 / W_L + sum_k R_k^2 / W_R.
// The sums of squares are exact integers, kept up to date as weight d moves from right to left:
//   L_k^2 -> (L_k + d)^2 = L_k^2 + d (2 L_k + d),   R_k^2 -> (R_k - d)^2 = R_k^2 - d (2 R_k - d).
#pragma once

#include <cstdint>
#include <span>

#include "base/quotients.h"

namespace arboleda {

template <class Square>
class Gini {
 public:
  static constexpr bool kScoresBinaryFeatures =
      true;  // kernels().split_scores.gini() gives the same scores

  template <class Slot>
  void reset(std::span<const Slot> left, std::span<const Slot> right) {
    left_squares_ = squares(left);
    right_squares_ = squares(right);
  }

  template <class Slot>
  void move(Slot left, Slot right, Slot weight) {
    const Square w = weight;
    left_squares_ += w * (2 * Square{left} + w);
    right_squares_ -= w * (2 * Square{right} - w);
  }

  template <class Slot>
  double score(std::span<const Slot>, std::span<const Slot>, std::uint64_t w_left,
               std::uint64_t w_right) const {
    return score(w_left, w_right);
  }

  double score(std::uint64_t w_left, std::uint64_t w_right) const {
    return sum_of_quotients(static_cast<double>(left_squares_), static_cast<double>(w_left),
                            static_cast<double>(right_squares_), static_cast<double>(w_right));
  }

  double tie_break(std::uint64_t, std::uint64_t) const { return 0.0; }

  template <class Slot>
  static double impurity(std::span<const Slot> weights, std::uint64_t whole) {
    const auto w = static_cast<double>(whole);
    // The difference is taken in integers: exactly 0 in a pure node, and exact near it.
    const auto square = static_cast<Square>(whole) * static_cast<Square>(whole);
    return static_cast<double>(square - squares(weights)) / (w * w);
  }

 private:
  template <class Slot>
  static Square squares(std::span<const Slot> weights) {
    Square sum = 0;
    for (const Slot w : weights) sum += Square{w} * Square{w};
    return sum;
  }

  Square left_squares_ = 0;
  Square right_squares_ = 0;
};

}  // namespace arboleda
