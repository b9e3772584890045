// The trees of each criterion. A file named after the criterion compiles them, as every criterion compiles a
// search of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "learn/cart.h"
#include "learn/grow_tree.h"
#include "learn/multi_output_cart.h"
#include "tree/tree.h"

namespace arboleda {

struct ClassTrees {
  TreeArrays (*grow)(const TreeTask&, std::span<const std::uint32_t> labels, std::size_t n_classes);
  TreeArrays (*grow_outputs)(const TreeTask&, std::span<const std::uint32_t> labels,
                             std::span<const std::size_t> n_classes);
};
extern const ClassTrees kGiniTrees, kEntropyTrees, kMisclassificationTrees;

struct RegressionTrees {
  TreeArrays (*grow)(const TreeTask&, const RegressionTargets&);
  TreeArrays (*grow_outputs)(const TreeTask&, const MultiOutputTargets&);
};
extern const RegressionTrees kSquaredErrorTrees, kAbsoluteErrorTrees, kPoissonTrees;

// targets: as criterion/log_rank.h has them. by_scores: by the statistic of log-rank scores.
TreeArrays grow_log_rank_tree(const TreeTask& task, std::span<const double> targets,
                              bool by_scores);

}  // namespace arboleda
