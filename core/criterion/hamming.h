// AdaBoost.MH: a leaf votes for or against every class, with a confidence.
// Schapire, Singer (1999), "Improved boosting algorithms using confidence-rated predictions", Machine
// Learning 37, sections 3.1, 4.2 and 7.
//
// Of the rows in a leaf, W+_k is what class k weighs where it is the row's own, W-_k where it is not.
// The normalizer Z = sum over leaves and classes of (W+ exp -h + W- exp h) is smallest for
//   h_k = 1/2 log(W+_k / W-_k),   where it is   Z = 2 sum over leaves and classes of sqrt(W+_k W-_k).
// A split that minimises it maximises
//   score = - sum_k sqrt(W+_k W-_k) on the left - the same on the right.
// Where W+ or W- is 0, h would be infinite: both get eps more (section 4.2).
//
// Slots: [ W+_k + W-_k of each class | W+_k of each class ].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "criterion/label_weights.h"
#include "simd/kernels.h"

namespace arboleda {

class Hamming {
 public:
  // smoothing: eps, in units of the weights.
  explicit Hamming(double smoothing) : smoothing_(smoothing) {}

  static std::size_t n_slots(std::size_t n_classes) { return 2 * n_classes; }

  static void add(const LabelRow& row, std::size_t n_classes, double* cell) {
    for (std::size_t k = 0; k < n_classes; ++k) cell[k] += row.weight[k];
    cell[n_classes + row.label] += row.weight[row.label];
  }

  static double score(const double* left, const double* total, std::size_t n_classes) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double plus = left[n_classes + k];
      const double rest = total[n_classes + k] - plus;
      sum += std::sqrt(plus * (left[k] - plus)) + std::sqrt(rest * (total[k] - left[k] - rest));
    }
    return -sum;
  }

  static double tie_break(const double*, const double*, std::size_t) { return 0.0; }

  static bool is_pure(const double* total, std::size_t n_classes, double) {
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double plus = total[n_classes + k];
      if (plus > 0.0 && plus < total[k]) return false;
    }
    return true;
  }

  // Z of the leaf as a share of its weight.
  static double impurity(const double* total, std::size_t n_classes, double weight) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double plus = total[n_classes + k];
      sum += std::sqrt(plus * (total[k] - plus));
    }
    return std::min(2.0 * sum / weight, 1.0);
  }

  void value(const double* total, std::size_t n_classes, double* out) const {
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double plus = total[n_classes + k];
      out[k] = (plus + smoothing_) / (total[k] - plus + smoothing_);
    }
    kernels().math.log(out, n_classes, out);
    for (std::size_t k = 0; k < n_classes; ++k) out[k] *= 0.5;
  }

  static double amount(const double* total, std::uint32_t k, std::size_t n_classes) {
    return total[n_classes + k];
  }
  static double share(const double* cell, std::uint32_t k, std::size_t n_classes, double) {
    return cell[k] > 0.0 ? cell[n_classes + k] / cell[k] : 0.0;
  }

 private:
  double smoothing_;
};

}  // namespace arboleda
