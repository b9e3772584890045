// Classification and regression trees: Breiman, Friedman, Olshen, Stone (1984).
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "data/coded_table.h"
#include "grow/grower.h"
#include "tree/tree.h"

namespace arboleda {

enum class ClassMeasure { gini, entropy, misclassification };
enum class RegressionMeasure { squared_error, absolute_error, poisson };

// labels: one a row, each below n_classes. weights: one a row, or empty for "all 1"; rows of weight
// 0 take no part. Throws Error(invalid_argument) when no row is left or sizes do not fit.
Tree fit_classification_tree(const CodedTable& table, std::span<const std::uint32_t> labels,
                             std::size_t n_classes, std::span<const double> weights,
                             ClassMeasure measure, const GrowthOptions& options,
                             const Context& context);

// targets: one a row, finite; for poisson not negative, and one of them positive.
Tree fit_regression_tree(const CodedTable& table, std::span<const double> targets,
                         std::span<const double> weights, RegressionMeasure measure,
                         const GrowthOptions& options, const Context& context);

}  // namespace arboleda
