// AdaBoost.M2 and AdaBoost.MR: a leaf ranks each class high or low.
// Freund, Schapire (1997), "A decision-theoretic generalization of on-line learning and an application
// to boosting", Journal of Computer and System Sciences 55, section 5.2; Schapire, Singer (1999),
// "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37, section 8.
//
// D(i, k) is the weight of mistaking the class y of row i for the wrong class k; D(i, y) = 0. Of the rows
// in a leaf,
//   pi_k = sum over rows with y = k of sum_j D(i, j)  -  sum over rows of D(i, k)
// is what is won by ranking class k high rather than low; the pi_k of a leaf sum to 0. With h_k = 1 where
// pi_k > 0, else 0, no other h in [0, 1] has a smaller pseudo-loss
//   1/2 sum_i sum_k D(i, k) (1 - h_y + h_k) = 1/2 (1 - sum over leaves and classes of h_k pi_k)
//                                           = 1/2 (1 - 1/2 sum over leaves and classes of |pi_k|),
// and with -1 for 0 none in [-1, 1] a larger r = 1/2 sum_i sum_k D(i, k) (h_y - h_k), which is the same
// 1/2 sum |pi_k|. A split that is best for both maximises
//   score = sum_k |pi_k| on the left + the same on the right,
// and of equal ones, which there are many of while sums are of one sign, the one with the largest
// sum of pi_k^2.
//
// Slots: pi_k of each class.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "criterion/label_weights.h"

namespace arboleda {

class LabelRanking {
 public:
  // low: the value of a class that does not rank high; that of one that does is 1.
  explicit LabelRanking(double low) : low_(low) {}

  static std::size_t n_slots(std::size_t n_classes) { return n_classes; }

  static void add(const LabelRow& row, std::size_t n_classes, double* cell) {
    for (std::size_t k = 0; k < n_classes; ++k) cell[k] -= row.weight[k];
    cell[row.label] += row.whole;
  }

  // Exact: at most twice the whole weight.
  static double score(const double* left, const double* total, std::size_t n_classes) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      sum += std::abs(left[k]) + std::abs(total[k] - left[k]);
    }
    return sum;
  }

  static double tie_break(const double* left, const double* total, std::size_t n_classes) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) {
      const double right = total[k] - left[k];
      sum += left[k] * left[k] + right * right;
    }
    return sum;
  }

  // Every class has only weight for it or only weight against it.
  static bool is_pure(const double* total, std::size_t n_classes, double weight) {
    return sum_of_sizes(total, n_classes) == 2.0 * weight;
  }

  // Twice the pseudo-loss of the leaf, as a share of its weight.
  static double impurity(const double* total, std::size_t n_classes, double weight) {
    return (2.0 * weight - sum_of_sizes(total, n_classes)) / (2.0 * weight);
  }

  void value(const double* total, std::size_t n_classes, double* out) const {
    for (std::size_t k = 0; k < n_classes; ++k) out[k] = total[k] > 0.0 ? 1.0 : low_;
  }

  static double amount(const double* total, std::uint32_t k, std::size_t) {
    return std::abs(total[k]);
  }
  static double share(const double* cell, std::uint32_t k, std::size_t, double weight) {
    return cell[k] / weight;
  }

 private:
  static double sum_of_sizes(const double* total, std::size_t n_classes) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_classes; ++k) sum += std::abs(total[k]);
    return sum;
  }

  double low_;
};

}  // namespace arboleda
