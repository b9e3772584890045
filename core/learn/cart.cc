#include "learn/cart.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fixed_point.h"
#include "criterion/log_rank.h"
#include "criterion/moments.h"
#include "data/fixed_weights.h"
#include "learn/criterion_trees.h"

namespace arboleda {

namespace {

TreeTask task_of(const SubtreeTask& subtree) {
  TreeTask task{subtree.table, subtree.weights, subtree.options, subtree.context};
  task.place = &subtree.root;
  return task;
}

}  // namespace

TreeArrays grow_classification_tree(const TreeTask& task, std::span<const std::uint32_t> labels,
                                    std::size_t n_classes, ClassMeasure measure) {
  require(task.options.monotonic.empty() || n_classes <= 2,
          "shares of more than two classes have no order");
  switch (measure) {
    case ClassMeasure::gini:
      return kGiniTrees.grow(task, labels, n_classes);
    case ClassMeasure::entropy:
      return kEntropyTrees.grow(task, labels, n_classes);
    case ClassMeasure::misclassification:
      break;
  }
  return kMisclassificationTrees.grow(task, labels, n_classes);
}

void check_labels(std::span<const std::uint32_t> labels, std::size_t n_rows,
                  std::size_t n_classes) {
  require(labels.size() == n_rows, "one label a row is needed");
  require(n_classes >= 1, "at least one class is needed");
  require(std::all_of(labels.begin(), labels.end(), [&](auto k) { return k < n_classes; }),
          "a label is not a class");
}

Tree fit_classification_tree(const BinnedDataset& table, std::span<const std::uint32_t> labels,
                             std::size_t n_classes, std::span<const double> weights,
                             ClassMeasure measure, const GrowthOptions& options,
                             const Context& context) {
  check_labels(labels, table.n_rows, n_classes);
  const FixedWeights fixed = fix_weights(weights, table.n_rows, kClassWeightBits, context.shards());
  const SentTargets sent{1, [&](RowIndex row, std::uint64_t* words) { words[0] = labels[row]; },
                         [&](const SubtreeTask& subtree, std::span<const std::uint64_t> words) {
                           const std::vector<std::uint32_t> own(words.begin(), words.end());
                           return grow_classification_tree(task_of(subtree), own, n_classes,
                                                           measure);
                         }};
  TreeTask task{table, fixed, options, context};
  task.targets = &sent;
  return Tree(grow_classification_tree(task, labels, n_classes, measure));
}

int weight_bits(RegressionMeasure measure) {
  return is_log_rank(measure) ? kRiskSetWeightBits : kWideWeightBits;
}

RegressionTargets fix_regression_targets(std::span<const double> y, const FixedWeights& weights,
                                         int total_bits, RegressionMeasure measure,
                                         const Shards* shards) {
  if (is_log_rank(measure)) return {y, {}, false};
  const int narrow_bits = kNarrowBits - total_bits;
  const bool narrow = weights.is_unit() || narrow_bits >= kNarrowEnoughTargetBits;
  const auto fix = measure == RegressionMeasure::poisson ? fix_amounts : fix_targets;
  return {y, fix(y, weights.dropped, narrow ? narrow_bits : kWideTargetBits, shards), narrow};
}

TreeArrays grow_regression_tree(const TreeTask& task, const RegressionTargets& targets,
                                RegressionMeasure measure) {
  switch (measure) {
    case RegressionMeasure::squared_error:
      return kSquaredErrorTrees.grow(task, targets);
    case RegressionMeasure::absolute_error:
      return kAbsoluteErrorTrees.grow(task, targets);
    case RegressionMeasure::log_rank:
    case RegressionMeasure::log_rank_score:
      return grow_log_rank_tree(task, targets.y, measure == RegressionMeasure::log_rank_score);
    case RegressionMeasure::poisson:
      break;
  }
  return kPoissonTrees.grow(task, targets);
}

Tree fit_regression_tree(const BinnedDataset& table, std::span<const double> targets,
                         std::span<const double> weights, RegressionMeasure measure,
                         const GrowthOptions& options, const Context& context) {
  require(targets.size() == table.n_rows, "one target a row is needed");
  const FixedWeights fixed =
      fix_weights(weights, table.n_rows, weight_bits(measure), context.shards());
  const RegressionTargets known =
      fix_regression_targets(targets, fixed, bit_length(fixed.total), measure, context.shards());
  const SentTargets sent{2,
                         [&](RowIndex row, std::uint64_t* words) {
                           words[0] = std::bit_cast<std::uint64_t>(targets[row]);
                           words[1] = static_cast<std::uint64_t>(known.fixed.value[row]);
                         },
                         [&](const SubtreeTask& subtree, std::span<const std::uint64_t> words) {
                           std::vector<double> y;
                           FixedTargets own{{}, known.fixed.centre, known.fixed.shift};
                           for (std::size_t i = 0; i < words.size(); i += 2) {
                             y.push_back(std::bit_cast<double>(words[i]));
                             own.value.push_back(static_cast<std::int64_t>(words[i + 1]));
                           }
                           return grow_regression_tree(task_of(subtree),
                                                       {y, std::move(own), known.narrow}, measure);
                         }};
  TreeTask task{table, fixed, options, context};
  task.targets = &sent;
  return Tree(grow_regression_tree(task, known, measure));
}

}  // namespace arboleda
