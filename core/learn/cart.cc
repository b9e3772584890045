#include "learn/cart.h"

#include <algorithm>

#include "base/fixed_point.h"
#include "criterion/absolute_error.h"
#include "criterion/class_weights.h"
#include "criterion/entropy.h"
#include "criterion/gini.h"
#include "criterion/misclassification.h"
#include "criterion/poisson.h"
#include "criterion/squared_error.h"
#include "learn/grow_tree.h"

namespace arboleda {

namespace {

template <template <class> class Measure>
Tree fit_classes(const CodedTable& table, std::span<const std::uint32_t> labels,
                 std::size_t n_classes, const FixedWeights& weights, const GrowthOptions& options,
                 const Context& context) {
  if (weights.is_unit()) {
    const ClassCriterion<std::uint32_t, Measure> criterion(labels, n_classes, weights);
    return grow_tree(table, criterion, weights, options, context);
  }
  const ClassCriterion<std::uint64_t, Measure> criterion(labels, n_classes, weights);
  return grow_tree(table, criterion, weights, options, context);
}

// What every regression has in common.
struct Regression {
  const CodedTable& table;
  std::span<const double> y;
  const FixedWeights& weights;
  const GrowthOptions& options;
  const Context& context;
};

template <class Criterion>
Tree fit_targets(const Regression& problem, const FixedTargets& targets) {
  const Criterion criterion(problem.y, targets, problem.weights);
  return grow_tree(problem.table, criterion, problem.weights, problem.options, problem.context);
}

}  // namespace

Tree fit_classification_tree(const CodedTable& table, std::span<const std::uint32_t> labels,
                             std::size_t n_classes, std::span<const double> weights,
                             ClassMeasure measure, const GrowthOptions& options,
                             const Context& context) {
  require(labels.size() == table.n_rows, "one label a row is needed");
  require(n_classes >= 1, "at least one class is needed");
  require(std::all_of(labels.begin(), labels.end(), [&](auto k) { return k < n_classes; }),
          "a label is not a class");
  const FixedWeights fixed = fix_weights(weights, table.n_rows, kClassWeightBits);
  switch (measure) {
    case ClassMeasure::gini:
      return fit_classes<Gini>(table, labels, n_classes, fixed, options, context);
    case ClassMeasure::entropy:
      return fit_classes<Entropy>(table, labels, n_classes, fixed, options, context);
    case ClassMeasure::misclassification:
      break;
  }
  return fit_classes<Misclassification>(table, labels, n_classes, fixed, options, context);
}

Tree fit_regression_tree(const CodedTable& table, std::span<const double> targets,
                         std::span<const double> weights, RegressionMeasure measure,
                         const GrowthOptions& options, const Context& context) {
  require(targets.size() == table.n_rows, "one target a row is needed");
  const FixedWeights fixed = fix_weights(weights, table.n_rows, kWideWeightBits);
  const int narrow_bits = kNarrowBits - bit_length(fixed.total);
  const bool narrow = fixed.is_unit() || narrow_bits >= kNarrowEnoughTargetBits;
  const auto fix = measure == RegressionMeasure::poisson ? fix_amounts : fix_targets;
  const FixedTargets fixed_targets =
      fix(targets, fixed.dropped, narrow ? narrow_bits : kWideTargetBits);
  const Regression problem{table, targets, fixed, options, context};
  switch (measure) {
    case RegressionMeasure::squared_error:
      if (fixed.is_unit()) {
        return fit_targets<SquaredError<std::int64_t, false>>(problem, fixed_targets);
      }
      return narrow ? fit_targets<SquaredError<std::int64_t, true>>(problem, fixed_targets)
                    : fit_targets<SquaredError<Int128, true>>(problem, fixed_targets);
    case RegressionMeasure::absolute_error:
      return narrow ? fit_targets<AbsoluteError<std::int64_t>>(problem, fixed_targets)
                    : fit_targets<AbsoluteError<Int128>>(problem, fixed_targets);
    case RegressionMeasure::poisson:
      break;
  }
  if (fixed.is_unit()) return fit_targets<Poisson<std::int64_t, false>>(problem, fixed_targets);
  return narrow ? fit_targets<Poisson<std::int64_t, true>>(problem, fixed_targets)
                : fit_targets<Poisson<Int128, true>>(problem, fixed_targets);
}

}  // namespace arboleda
