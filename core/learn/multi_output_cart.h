// Trees of several targets at once; see criterion/multi_output.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learn/cart.h"

namespace arboleda {

// labels: n_rows of output 0, then n_rows of output 1, ..., each below its output's n_classes.
// The values of a leaf are the class shares of output 0, then those of output 1, ...
Tree fit_multi_output_classification_tree(const BinnedDataset& table,
                                          std::span<const std::uint32_t> labels,
                                          std::span<const std::size_t> n_classes,
                                          std::span<const double> weights, ClassMeasure measure,
                                          const GrowthOptions& options, const Context& context);

// targets: in the same order. The values of a leaf are one number for each output.
Tree fit_multi_output_regression_tree(const BinnedDataset& table, std::span<const double> targets,
                                      std::size_t n_outputs, std::span<const double> weights,
                                      RegressionMeasure measure, const GrowthOptions& options,
                                      const Context& context);

// As in cart.h: what a forest does once, and what it does for each tree.

void check_multi_output_labels(std::span<const std::uint32_t> labels, std::size_t n_rows,
                               std::span<const std::size_t> n_classes);

// Writes weights of 1 out: trees of several outputs exist for uneven weights only, so that the library
// does not hold each of them twice. The weights of a task must be so.
void write_out(FixedWeights& weights, std::size_t n_rows);

TreeArrays grow_multi_output_classification_tree(const TreeTask& task,
                                                 std::span<const std::uint32_t> labels,
                                                 std::span<const std::size_t> n_classes,
                                                 ClassMeasure measure);

struct MultiOutputTargets {
  std::span<const double> y;
  std::vector<FixedTargets> fixed;  // of each output
};
MultiOutputTargets fix_multi_output_targets(std::span<const double> y, std::size_t n_outputs,
                                            const FixedWeights& weights, RegressionMeasure measure);

TreeArrays grow_multi_output_regression_tree(const TreeTask& task,
                                             const MultiOutputTargets& targets,
                                             RegressionMeasure measure);

}  // namespace arboleda
