// Members of boosting that are regressions: one tree for each class, or for two classes one tree, which is
// for the second. What a tree learns of a row may differ from tree to tree.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "learn/booster.h"

namespace arboleda {

// How many trees a member has.
inline std::size_t n_regressions(const BoosterTask& task) {
  return task.n_classes == 2 ? 1 : task.n_classes;
}

// The class that a tree is for.
inline std::uint32_t class_of_regression(const BoosterTask& task, std::size_t tree) {
  return static_cast<std::uint32_t>(n_regressions(task) == 1 ? 1 : tree);
}

inline MemberShape shape_of_regressions(const BoosterTask& task) {
  return {MemberVote::of_class, n_regressions(task), 1, Measure::squared_error};
}

// What a tree learns: writes a target and a weight, of any scale, for each row that takes part. Called on
// any thread.
using RegressionTarget =
    std::function<void(std::size_t tree, std::span<double> target, std::span<double> weight)>;

// Runs body(tree) for all trees of a member, in parallel.
void for_each_regression(const BoosterTask& task, const std::function<void(std::size_t)>& body);

// Grows the trees of a member by least squares. sits_out: of a single tree; several trim their rows each
// by its own weights. targets_are_signs: all targets are 1 or -1.
std::vector<TreeArrays> grow_regressions(const BoosterTask& task, const GrowthOptions& growth,
                                         std::span<const std::uint8_t> sits_out,
                                         bool targets_are_signs,
                                         const RegressionTarget& make_targets);

}  // namespace arboleda
