// The base of all losses of the library: targets and weights of rows, in blocks that stay in the
// nearest cache. A loss of this kind only defines the values of a row of weight 1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/exact_sum.h"
#include "data/fixed_weights.h"
#include "objective/losses.h"
#include "objective/objective.h"
#include "simd/math_kernels.h"

namespace arboleda {

inline constexpr std::size_t kLossBlock = kSoftmaxBlock;  // rows

class RowObjective : public Objective {
 public:
  void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                 std::span<double> gradient, std::span<double> hessian) const final;
  void losses(std::span<const double> scores, std::span<const RowIndex> rows,
              std::span<double> out) const final;
  double total_weight(std::span<const RowIndex> rows) const final;

 protected:
  // Throws Error(invalid_argument) for weights that are negative, not finite or all 0, and for
  // targets that are not finite.
  RowObjective(const LossData& data, std::size_t n_outputs);

  // At most kLossBlock rows, as if their weights were 1. `hessian` is empty where has_unit_hessian().
  virtual void unit_gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                              std::span<double> gradient, std::span<double> hessian) const = 0;
  virtual void unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                           std::span<double> out) const = 0;

  std::span<const double> target() const { return data_.target; }
  bool is_unweighted() const { return data_.weight.empty(); }

  // Weights as whole numbers, for sums that do not depend on their order.
  std::uint64_t units_of(RowIndex row) const;
  std::vector<std::uint64_t> units_of(std::span<const RowIndex> rows) const;  // empty: all 1

  const Shards* shards() const { return data_.shards; }

  // Of numbers that belong to `rows`, in all shards or in this one. Throws Error(invalid_argument) where
  // these have no weight.
  double weighted_mean(std::span<const double> x, std::span<const RowIndex> rows) const {
    return weighted_mean(x, rows, shards());
  }
  double own_mean(std::span<const double> x, std::span<const RowIndex> rows) const {
    return weighted_mean(x, rows, nullptr);
  }
  // Of several leaves in all shards; 0 where one has no weight.
  std::vector<double> weighted_means(std::span<const std::vector<double>> x,
                                     std::span<const std::span<const RowIndex>> leaves) const;
  double mean_target(std::span<const RowIndex> rows) const;

  // The share of each class 0 .. n_classes-1 in the weight of the rows, at least 10 epsilon and at
  // most 1 - 10 epsilon: a class that is absent keeps a finite score.
  std::vector<double> class_shares(std::span<const RowIndex> rows, std::size_t n_classes) const;

  std::vector<double> targets_of(std::span<const RowIndex> rows) const;

  // target - score of one output, for `rows`.
  std::vector<double> residuals(std::span<const double> scores, std::size_t output,
                                std::span<const RowIndex> rows) const;

  // For each leaf the lower quantile of its residuals in all shards. units: of some rows, as units_of().
  using UnitsOf = std::function<std::vector<std::uint64_t>(std::span<const RowIndex>)>;
  std::vector<double> residual_quantiles(std::span<const double> scores, std::size_t output,
                                         std::span<const std::span<const RowIndex>> leaves,
                                         double level, const UnitsOf& units) const;
  std::vector<double> residual_quantiles(std::span<const double> scores, std::size_t output,
                                         std::span<const std::span<const RowIndex>> leaves,
                                         double level) const {
    return residual_quantiles(scores, output, leaves, level,
                              [this](std::span<const RowIndex> rows) { return units_of(rows); });
  }

  // Multiplies the derivatives of some rows, from `begin` on, by their weights.
  void weigh(std::size_t begin, std::span<double> gradient, std::span<double> hessian) const;

 private:
  using WeightedSum =
      std::array<ExactSum, 2>;  // of numbers times weights, and of weights, in units
  Magnitude largest_of(std::span<const double> x, std::span<const RowIndex> rows) const;
  WeightedSum sum_of(std::span<const double> x, std::span<const RowIndex> rows,
                     const SumScale& scale) const;
  static double mean_of(const SumScale& scale, std::span<const ExactSum, 2> sums);
  double weighted_mean(std::span<const double> x, std::span<const RowIndex> rows,
                       const Shards* shards) const;

  LossData data_;
  FixedWeights fixed_;
};

// Losses that are a sum over outputs of functions of one score each.
class SeparableObjective : public RowObjective {
 public:
  bool has_block_gradients() const final { return true; }
  void block_gradients(std::size_t output, std::span<const double> scores, std::size_t begin,
                       std::size_t end, std::span<double> gradient,
                       std::span<double> hessian) const final;

 protected:
  using RowObjective::RowObjective;

  // Of at most kLossBlock scores and targets. `hessian` is empty where has_unit_hessian().
  virtual void derivatives(std::size_t output, std::span<const double> score,
                           std::span<const double> target, std::span<double> gradient,
                           std::span<double> hessian) const = 0;
  virtual void values(std::size_t output, std::span<const double> score,
                      std::span<const double> target, std::span<double> out) const = 0;

 private:
  void unit_gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                      std::span<double> gradient, std::span<double> hessian) const final;
  void unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                   std::span<double> out) const final;
};

// Throws Error(invalid_argument) that names the first target of which `is_legal` does not hold:
// "loss 'gamma' needs targets above 0; row 3 has -1".
[[noreturn]] void refuse_target(const char* needs, std::size_t row, double value);

template <class Predicate>
void check_targets(std::span<const double> target, const char* needs, const Predicate& is_legal) {
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (!is_legal(target[i])) refuse_target(needs, i, target[i]);
  }
}

// out[i] = exp(factor * score[i]), the exponent being held at 300 at most: 1.9e130 can be squared and
// summed over any number of rows. Scores that far away come from diverging fits only.
void bounded_exp(std::span<const double> score, double factor, std::span<double> out);

}  // namespace arboleda
