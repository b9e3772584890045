#include "learn/multi_output_cart.h"

#include <algorithm>

#include "criterion/absolute_error.h"
#include "criterion/class_weights.h"
#include "criterion/entropy.h"
#include "criterion/gini.h"
#include "criterion/misclassification.h"
#include "criterion/multi_output.h"
#include "criterion/poisson.h"
#include "criterion/squared_error.h"
#include "learn/grow_tree.h"

namespace arboleda {

namespace {

// Weights of 1 written out: trees of several outputs exist for uneven weights only, so that the
// library does not hold each of them twice.
FixedWeights written_out(FixedWeights weights, std::size_t n_rows) {
  if (!weights.is_unit()) return weights;
  weights.value.assign(n_rows, 1);
  for (std::size_t i = 0; i < weights.dropped.size(); ++i) {
    if (weights.dropped[i]) weights.value[i] = 0;
  }
  return weights;
}

// A target that never varies has no scale of its own. It takes the finest of the others', so that it
// does not make them all look small.
void scale_constants(std::vector<FixedTargets>& targets) {
  const auto is_constant = [](const FixedTargets& t) {
    return std::all_of(t.value.begin(), t.value.end(), [](std::int64_t v) { return v == 0; });
  };
  int finest = 0;
  for (const auto& t : targets) finest = std::max(finest, t.shift);
  for (auto& t : targets) {
    if (is_constant(t)) t.shift = finest;
  }
}

struct Problem {
  const CodedTable& table;
  const FixedWeights& weights;
  const GrowthOptions& options;
  const Context& context;
};

template <class Criterion>
Tree grow(const Problem& problem, std::vector<Criterion> criteria) {
  const MultiOutput<Criterion> criterion(std::move(criteria));
  return grow_tree(problem.table, criterion, problem.weights, problem.options, problem.context);
}

template <template <class> class Measure>
Tree fit_classes(const Problem& problem, std::span<const std::uint32_t> labels,
                 std::span<const std::size_t> n_classes) {
  using Criterion = ClassCriterion<std::uint64_t, Measure>;
  const std::size_t n = problem.table.n_rows;
  std::vector<Criterion> criteria;
  for (std::size_t k = 0; k < n_classes.size(); ++k) {
    criteria.emplace_back(labels.subspan(k * n, n), n_classes[k], problem.weights);
  }
  return grow(problem, std::move(criteria));
}

template <class Criterion>
Tree fit_targets(const Problem& problem, std::span<const double> y,
                 const std::vector<FixedTargets>& targets) {
  const std::size_t n = problem.table.n_rows;
  std::vector<Criterion> criteria;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    criteria.emplace_back(y.subspan(k * n, n), targets[k], problem.weights);
  }
  return grow(problem, std::move(criteria));
}

}  // namespace

Tree fit_multi_output_classification_tree(const CodedTable& table,
                                          std::span<const std::uint32_t> labels,
                                          std::span<const std::size_t> n_classes,
                                          std::span<const double> weights, ClassMeasure measure,
                                          const GrowthOptions& options, const Context& context) {
  const std::size_t n = table.n_rows;
  require(!n_classes.empty() && labels.size() == n * n_classes.size(),
          "one label a row and output is needed");
  for (std::size_t k = 0; k < n_classes.size(); ++k) {
    const auto of_output = labels.subspan(k * n, n);
    require(std::all_of(of_output.begin(), of_output.end(),
                        [&](auto label) { return label < n_classes[k]; }),
            "a label is not a class");
  }
  const FixedWeights fixed = written_out(fix_weights(weights, n, kClassWeightBits), n);
  const Problem problem{table, fixed, options, context};
  switch (measure) {
    case ClassMeasure::gini:
      return fit_classes<Gini>(problem, labels, n_classes);
    case ClassMeasure::entropy:
      return fit_classes<Entropy>(problem, labels, n_classes);
    case ClassMeasure::misclassification:
      break;
  }
  return fit_classes<Misclassification>(problem, labels, n_classes);
}

Tree fit_multi_output_regression_tree(const CodedTable& table, std::span<const double> targets,
                                      std::size_t n_outputs, std::span<const double> weights,
                                      RegressionMeasure measure, const GrowthOptions& options,
                                      const Context& context) {
  const std::size_t n = table.n_rows;
  require(n_outputs >= 1 && targets.size() == n * n_outputs,
          "one target a row and output is needed");
  const FixedWeights weights_of_rows = written_out(fix_weights(weights, n, kWideWeightBits), n);
  const auto fix = measure == RegressionMeasure::poisson ? fix_amounts : fix_targets;
  std::vector<FixedTargets> fixed;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    fixed.push_back(fix(targets.subspan(k * n, n), weights_of_rows.dropped, kWideTargetBits));
  }
  scale_constants(fixed);
  const Problem problem{table, weights_of_rows, options, context};
  switch (measure) {
    case RegressionMeasure::squared_error:
      return fit_targets<SquaredError<Int128, true>>(problem, targets, fixed);
    case RegressionMeasure::absolute_error:
      return fit_targets<AbsoluteError<Int128>>(problem, targets, fixed);
    case RegressionMeasure::poisson:
      break;
  }
  return fit_targets<Poisson<Int128, true>>(problem, targets, fixed);
}

}  // namespace arboleda
