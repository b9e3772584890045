// Squared error: the variance of the target in a node, sum_i w_i (y_i - mean)^2 / sum_i w_i.
// Breiman, Friedman, Olshen, Stone (1984), "Classification and Regression Trees", section 8.4.
//
// With S = sum w q, W = sum w, a split lowers W * variance by  S_L^2/W_L + S_R^2/W_R - S^2/W. Sums
// are taken about the integer m next to the node's own mean, s = S - m W (moments.h):
//   score = s_L^2/W_L + s_R^2/W_R.
//
// Friedman (2001), "Greedy function approximation: a gradient boosting machine", equation (35),
// measures a split by W_L W_R / (W_L + W_R) (S_L/W_L - S_R/W_R)^2. Multiplied out this is
// S_L^2/W_L + S_R^2/W_R - S^2/W, the same decrease: his criterion needs no file of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/quotients.h"
#include "base/types.h"
#include "criterion/moments.h"

namespace arboleda {

template <class Sum>
class SquaredSides : public MomentSides<Sum> {
 public:
  double score() const {
    const auto l = static_cast<double>(this->left().sum);
    const auto r = static_cast<double>(this->right().sum);
    return sum_of_quotients(l * l, this->weight_left(), r * r, this->weight_right());
  }

  double tie_break() const { return 0.0; }
};

template <class Sum, bool kWeighted>
class SquaredError : public MeanCriterion<Sum, kWeighted> {
 public:
  using Base = MeanCriterion<Sum, kWeighted>;
  using typename Base::Local;
  using typename Base::Slot;
  using Sides = SquaredSides<Sum>;
  using Base::Base;
  static constexpr bool kScoresRuns =
      std::is_same_v<Sum, std::int64_t>;  // kernels().split_scores.squared()

  Sides make_sides() const { return Sides(); }

  // Times 2^impurity_exponent() it is the impurity of the caller; as it is, it stays within float64
  // however large or small the targets are.
  int impurity_exponent() const { return -2 * this->targets().shift; }

  // sum w (q - m)^2 / W - ((S - m W) / W)^2 in exact integers; the wide case drops the lowest bits of
  // the squares, 2^-72 of the largest.
  double impurity(const Local& local, const Slot* total) const {
    if (local.target.size() == 1) return 0.0;
    return shared_impurity(spread(local, total, {}), total, {});
  }

  // The sum of some rows of the node, which may be in several shards, and the impurity from that of all.
  Int128 spread(const Local& local, const Slot* total, const TargetRange&) const {
    const std::int64_t whole = NodeMean<Sum>(*total).whole;
    Int128 squares = 0;
    for (std::size_t i = 0; i < local.target.size(); ++i) {
      const Int128 d = local.target[i] - whole;
      squares += ((d * d) >> kShift) * this->weight_of(local, i);
    }
    return squares;
  }
  double shared_impurity(Int128 squares, const Slot* total, const TargetRange&) const {
    if (total->n_rows == 1) return 0.0;
    const NodeMean<Sum> mean(*total);
    const auto w = static_cast<double>(total->weight);
    const double variance =
        std::ldexp(static_cast<double>(squares), kShift) / w - mean.rest * mean.rest;
    return std::max(variance, 0.0);
  }

 private:
  static constexpr int kShift = std::is_same_v<Sum, Int128> ? 30 : 0;
};

}  // namespace arboleda
