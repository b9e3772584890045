// The best split so far of rows of two classes, by the Gini index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "criterion/class_weights.h"
#include "criterion/gini.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// Weights of the two classes.
struct ClassPair {
  std::uint64_t first = 0, second = 0;

  std::uint64_t whole() const { return first + second; }
  void move(std::uint32_t label, std::uint64_t weight) { (label == 0 ? first : second) += weight; }
  friend ClassPair operator+(ClassPair a, ClassPair b) {
    return {a.first + b.first, a.second + b.second};
  }
  friend ClassPair operator-(ClassPair a, ClassPair b) {
    return {a.first - b.first, a.second - b.second};
  }
};

class BestStump {
 public:
  // total: of both sides.
  explicit BestStump(ClassPair total = {}) : total_(total) {}

  // Keeps the split if it is better: as the Grower, which looks at the splits of a feature in the same
  // order. left: the weights of the rows that go left; both sides have some.
  void consider(const Split& candidate, ClassPair left) {
    const double gain = gain_of(left);
    if (gain < gain_ - kRounding) return;
    gain_ = std::max(gain_, gain);
    // The numbers of rows are not needed: there is at least one on each side.
    const std::uint64_t total[] = {total_.first, total_.second, 2};
    const ClassPair right = total_ - left;
    const std::uint64_t cell[] = {right.first, right.second, 1};
    sides_.part(total, cell);
    scored_ = candidate;
    if (arboleda::consider(sides_, {}, scored_, split_)) left_ = left;
  }

  void consider(const BestStump& other) {
    gain_ = std::max(gain_, other.gain_);
    if (!other.split_.better_than(split_)) return;
    split_ = other.split_;
    left_ = other.left_;
  }

  const Split& split() const { return split_; }
  ClassPair left() const { return left_; }

  // The largest gain (simd/stump_kernels.h) of all that were considered; below 0 if none was.
  double gain() const { return gain_; }

 private:
  // Splits whose gains differ by more than this are ranked without their scores. Gains and scores
  // are at most as large as the total and a few roundings of 2^-53 off.
  static constexpr double kRounding = 1e-13;

  double gain_of(ClassPair left) const {
    const ClassPair right = total_ - left;
    const ClassPair& small = left.whole() < right.whole() ? left : right;
    const auto whole = static_cast<double>(total_.whole());
    const double a = static_cast<double>(small.whole()) / whole;
    const double p = static_cast<double>(total_.second) / whole;
    const double d = static_cast<double>(small.second) / whole - p * a;
    return d * d / (a * (1.0 - a));
  }

  ClassPair total_, left_;
  Split split_;
  double gain_ = -1.0;
  ClassSides<std::uint64_t, Gini> sides_{2};
  Split scored_;
};

}  // namespace arboleda
