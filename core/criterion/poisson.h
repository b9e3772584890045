// Half Poisson deviance: sum_i w_i (y_i log(y_i / mean) - y_i + mean) / sum_i w_i, for y >= 0; over a
// node the last two terms cancel. Breiman et al. (1984), section 8.4, with the deviance of McCullagh,
// Nelder (1989), "Generalized Linear Models", section 2.3, in place of the square.
//
// Targets are integers q_i about 0 (fix_amounts). With S = sum w q, W = sum w and m = S/W, a split
// lowers W * impurity by  S_L log(S_L/W_L) + S_R log(S_R/W_R) - S log m. With r = S_L/(W_L m) - 1 on
// the left and the like on the right this is
//   score = m (W_L phi(r_L) + W_R phi(r_R)),   phi(r) = (1 + r) log(1 + r) - r >= 0,
// since W_L r_L + W_R r_R = 0: two positive terms, in which nothing cancels where the means differ
// little. A mean of 0 predicts that nothing can ever happen: a split that leaves one is not allowed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/log2.h"
#include "base/types.h"
#include "criterion/moments.h"

namespace arboleda {

// phi(r) = (1 + r) log(1 + r) - r for r >= -1. With s = r / (2 + r), log(1 + r) = 2 atanh s, so that
//   phi(r) = 2 (s^2 + (1 + s) (s^3/3 + s^5/5 + ...)) / (1 - s).
inline double poisson_phi(double r) {
  constexpr double kLn2 = 0.69314718055994530942;
  const double s = r / (2.0 + r);
  // The series up to s^23/23 leaves less than 2^-62 of its first term.
  if (std::abs(s) > 0.1716) return kLn2 * xlog2x(1.0 + r) - r;
  const double s2 = s * s;
  double series = 1.0 / 23.0;
  for (int odd = 21; odd >= 3; odd -= 2) series = series * s2 + 1.0 / odd;
  return 2.0 * s2 * (1.0 + (1.0 + s) * s * series) / (1.0 - s);
}

template <class Sum>
class PoissonSides : public MomentSides<Sum> {
 public:
  using typename MomentSides<Sum>::Slot;

  void reset(const Slot* total, std::uint64_t n_rows) {
    MomentSides<Sum>::reset(total, n_rows);
    mean_ = NodeMean<Sum>(*total);
  }

  double score() const {
    return is_zero(this->left()) || is_zero(this->right())
               ? -std::numeric_limits<double>::infinity()
               : part(this->left()) + part(this->right());
  }

  double tie_break() const { return 0.0; }

 private:
  bool is_zero(const Slot& side) const { return side.sum == -Sum{mean_.whole} * Sum{side.weight}; }

  // W m phi(S / (W m) - 1)
  double part(const Slot& side) const {
    const double expected = static_cast<double>(side.weight) * mean_.value();
    const double excess =
        static_cast<double>(side.sum) - static_cast<double>(side.weight) * mean_.rest;
    return expected * poisson_phi(excess / expected);
  }

  NodeMean<Sum> mean_;
};

template <class Sum, bool kWeighted>
class Poisson : public MeanCriterion<Sum, kWeighted> {
 public:
  using Base = MeanCriterion<Sum, kWeighted>;
  using typename Base::Local;
  using typename Base::Slot;
  using Sides = PoissonSides<Sum>;
  using Base::Base;

  Sides make_sides() const { return Sides(); }

  // Times 2^impurity_exponent() it is the impurity of the caller.
  int impurity_exponent() const { return -this->targets().shift; }

  // sum w m phi(q/m - 1) / W. The terms are positive; they become integers of 61 bits before they are
  // summed, so that the order of rows does not matter.
  double impurity(const Local& local, const Slot* total) const {
    TargetRange range;
    range.units = kernels().min_max(local.target.data(), local.target.size());
    return shared_impurity(spread(local, total, range), total, range);
  }

  // The sum of some rows of the node, which may be in several shards, and the impurity from that of all.
  // range: of all its targets.
  Int128 spread(const Local& local, const Slot* total, const TargetRange& range) const {
    if (range.units.min == range.units.max) return 0;
    const NodeMean<Sum> mean(*total);
    const int exponent = unit_exponent(mean, range);
    Int128 sum = 0;
    for (std::size_t i = 0; i < local.target.size(); ++i) {
      const auto units = std::llround(std::ldexp(term(mean, local.target[i]), exponent));
      sum += Int128{units} * this->weight_of(local, i);
    }
    return sum;
  }
  double shared_impurity(Int128 sum, const Slot* total, const TargetRange& range) const {
    if (range.units.min == range.units.max) return 0.0;
    const int exponent = unit_exponent(NodeMean<Sum>(*total), range);
    return std::ldexp(static_cast<double>(sum), -exponent) / static_cast<double>(total->weight);
  }

 private:
  static double term(const NodeMean<Sum>& mean, std::int64_t q) {
    const double excess = static_cast<double>(q - mean.whole) - mean.rest;
    return mean.value() * poisson_phi(excess / mean.value());
  }
  static int unit_exponent(const NodeMean<Sum>& mean, const TargetRange& range) {
    return 60 - std::ilogb(std::max(term(mean, range.units.min), term(mean, range.units.max)));
  }
};

}  // namespace arboleda
