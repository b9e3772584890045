// Trees of several targets at once; see criterion/multi_output.h.
#pragma once

#include <cstdint>
#include <span>

#include "learn/cart.h"

namespace arboleda {

// labels: n_rows of output 0, then n_rows of output 1, ..., each below its output's n_classes.
// The values of a leaf are the class shares of output 0, then those of output 1, ...
Tree fit_multi_output_classification_tree(const CodedTable& table,
                                          std::span<const std::uint32_t> labels,
                                          std::span<const std::size_t> n_classes,
                                          std::span<const double> weights, ClassMeasure measure,
                                          const GrowthOptions& options, const Context& context);

// targets: in the same order. The values of a leaf are one number for each output.
Tree fit_multi_output_regression_tree(const CodedTable& table, std::span<const double> targets,
                                      std::size_t n_outputs, std::span<const double> weights,
                                      RegressionMeasure measure, const GrowthOptions& options,
                                      const Context& context);

}  // namespace arboleda
