#include "learn/multi_output_cart.h"

#include <algorithm>

#include "base/error.h"
#include "criterion/moments.h"
#include "learn/criterion_trees.h"

namespace arboleda {

namespace {

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

void check_free(const TreeTask& task) {
  require(task.options.monotonic.empty(), "several outputs have no order");
}

}  // namespace

void write_out(FixedWeights& weights, std::size_t n_rows) {
  if (!weights.is_unit()) return;
  weights.value.assign(n_rows, 1);
  for (std::size_t i = 0; i < weights.dropped.size(); ++i) {
    if (weights.dropped[i]) weights.value[i] = 0;
  }
}

void check_multi_output_labels(std::span<const std::uint32_t> labels, std::size_t n_rows,
                               std::span<const std::size_t> n_classes) {
  require(!n_classes.empty() && labels.size() == n_rows * n_classes.size(),
          "one label a row and output is needed");
  for (std::size_t k = 0; k < n_classes.size(); ++k) {
    check_labels(labels.subspan(k * n_rows, n_rows), n_rows, n_classes[k]);
  }
}

TreeArrays grow_multi_output_classification_tree(const TreeTask& task,
                                                 std::span<const std::uint32_t> labels,
                                                 std::span<const std::size_t> n_classes,
                                                 ClassMeasure measure) {
  check_free(task);
  switch (measure) {
    case ClassMeasure::gini:
      return kGiniTrees.grow_outputs(task, labels, n_classes);
    case ClassMeasure::entropy:
      return kEntropyTrees.grow_outputs(task, labels, n_classes);
    case ClassMeasure::misclassification:
      break;
  }
  return kMisclassificationTrees.grow_outputs(task, labels, n_classes);
}

Tree fit_multi_output_classification_tree(const BinnedDataset& table,
                                          std::span<const std::uint32_t> labels,
                                          std::span<const std::size_t> n_classes,
                                          std::span<const double> weights, ClassMeasure measure,
                                          const GrowthOptions& options, const Context& context) {
  check_multi_output_labels(labels, table.n_rows, n_classes);
  FixedWeights fixed = fix_weights(weights, table.n_rows, kClassWeightBits);
  write_out(fixed, table.n_rows);
  return Tree(grow_multi_output_classification_tree({table, fixed, options, context}, labels,
                                                    n_classes, measure));
}

MultiOutputTargets fix_multi_output_targets(std::span<const double> y, std::size_t n_outputs,
                                            const FixedWeights& weights,
                                            RegressionMeasure measure) {
  const std::size_t n = y.size() / n_outputs;
  const auto fix = measure == RegressionMeasure::poisson ? fix_amounts : fix_targets;
  std::vector<FixedTargets> fixed;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    fixed.push_back(fix(y.subspan(k * n, n), weights.dropped, kWideTargetBits, nullptr));
  }
  scale_constants(fixed);
  return {y, std::move(fixed)};
}

TreeArrays grow_multi_output_regression_tree(const TreeTask& task,
                                             const MultiOutputTargets& targets,
                                             RegressionMeasure measure) {
  check_free(task);
  switch (measure) {
    case RegressionMeasure::squared_error:
      return kSquaredErrorTrees.grow_outputs(task, targets);
    case RegressionMeasure::absolute_error:
      return kAbsoluteErrorTrees.grow_outputs(task, targets);
    case RegressionMeasure::log_rank:
    case RegressionMeasure::log_rank_score:
      require(false, "times to an event are one target");
      break;
    case RegressionMeasure::poisson:
      break;
  }
  return kPoissonTrees.grow_outputs(task, targets);
}

Tree fit_multi_output_regression_tree(const BinnedDataset& table, std::span<const double> targets,
                                      std::size_t n_outputs, std::span<const double> weights,
                                      RegressionMeasure measure, const GrowthOptions& options,
                                      const Context& context) {
  const std::size_t n = table.n_rows;
  require(n_outputs >= 1 && targets.size() == n * n_outputs,
          "one target a row and output is needed");
  FixedWeights fixed = fix_weights(weights, n, kWideWeightBits);
  write_out(fixed, n);
  const auto fixed_targets = fix_multi_output_targets(targets, n_outputs, fixed, measure);
  return Tree(
      grow_multi_output_regression_tree({table, fixed, options, context}, fixed_targets, measure));
}

}  // namespace arboleda
