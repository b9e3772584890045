// Classification and regression trees: Breiman, Friedman, Olshen, Stone (1984).
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "base/fixed_point.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "learn/grow_tree.h"
#include "tree/tree.h"

namespace arboleda {

enum class ClassMeasure { gini, entropy, misclassification };
// Those of log ranks are of one output: targets are signed ranks of times (criterion/log_rank.h).
enum class RegressionMeasure { squared_error, absolute_error, poisson, log_rank, log_rank_score };
inline bool is_log_rank(RegressionMeasure m) {
  return m == RegressionMeasure::log_rank || m == RegressionMeasure::log_rank_score;
}
// That a sample's weights may have in total.
int weight_bits(RegressionMeasure measure);

// Where the context has shards, the tables and targets are those of this shard, and the tree is that of all rows;
// splits at random and measures whose statistic is no sum are not supported then.

// labels: one a row, each below n_classes. weights: one a row, or empty for "all 1"; rows of weight
// 0 take no part. Throws Error(invalid_argument) when no row is left or sizes do not fit.
Tree fit_classification_tree(const BinnedDataset& table, std::span<const std::uint32_t> labels,
                             std::size_t n_classes, std::span<const double> weights,
                             ClassMeasure measure, const GrowthOptions& options,
                             const Context& context);

// targets: one a row, finite; for poisson not negative, and one of them positive.
Tree fit_regression_tree(const BinnedDataset& table, std::span<const double> targets,
                         std::span<const double> weights, RegressionMeasure measure,
                         const GrowthOptions& options, const Context& context);

// What a forest does once for all its trees is apart from what it does for each. A task's weights are
// in fixed point; its labels and sizes are not checked again.

void check_labels(std::span<const std::uint32_t> labels, std::size_t n_rows, std::size_t n_classes);

TreeArrays grow_classification_tree(const TreeTask& task, std::span<const std::uint32_t> labels,
                                    std::size_t n_classes, ClassMeasure measure);

struct RegressionTargets {
  std::span<const double> y;
  FixedTargets fixed;
  bool narrow;  // sums of weights x targets fit 64 bits
};

// total_bits: of the largest total that the weights of any task have. A task's weights may differ from
// these by whole factors.
RegressionTargets fix_regression_targets(std::span<const double> y, const FixedWeights& weights,
                                         int total_bits, RegressionMeasure measure,
                                         const Shards* shards = nullptr);

TreeArrays grow_regression_tree(const TreeTask& task, const RegressionTargets& targets,
                                RegressionMeasure measure);

}  // namespace arboleda
