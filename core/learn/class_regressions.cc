#include "learn/class_regressions.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "criterion/moments.h"
#include "learn/weight_trimming.h"

namespace arboleda {

namespace {

// Signs need no more bits than the weights leave in 64.
RegressionTargets fix_signs(std::span<const double> y, const FixedWeights& weights) {
  return {y, fix_targets(y, weights.dropped, kNarrowBits - kWideWeightBits), true};
}

TreeArrays grow_one(const BoosterTask& task, const GrowthOptions& growth, const Context& context,
                    std::span<const double> target, std::span<const double> weight,
                    bool targets_are_signs) {
  const FixedWeights weights = fix_weights(weight, weight.size(), kWideWeightBits);
  const RegressionTargets targets =
      targets_are_signs ? fix_signs(target, weights)
                        : fix_regression_targets(target, weights, bit_length(weights.total),
                                                 RegressionMeasure::squared_error);
  return grow_regression_tree({task.table, weights, growth, context}, targets,
                              RegressionMeasure::squared_error);
}

}  // namespace

void for_each_regression(const BoosterTask& task, const std::function<void(std::size_t)>& body) {
  const bool is_small = task.rows.size() * task.n_classes < kParallelWork;
  parallel_for(is_small ? 1 : task.context.n_threads(), n_regressions(task),
               [&](std::size_t tree, int) { body(tree); });
}

std::vector<TreeArrays> grow_regressions(const BoosterTask& task, const GrowthOptions& growth,
                                         std::span<const std::uint8_t> sits_out,
                                         bool targets_are_signs,
                                         const RegressionTarget& make_targets) {
  const std::size_t n_trees = n_regressions(task);
  const double trimming = task.options.weight_trimming;
  std::vector<TreeArrays> trees(n_trees);
  for_each_regression(task, [&](std::size_t tree) {
    std::vector<double> target(task.table.n_rows), weight(task.table.n_rows);
    make_targets(tree, target, weight);
    std::vector<std::uint8_t> out(sits_out.begin(), sits_out.end());
    if (n_trees > 1 && trimming > 0.0) mark_light_rows(weight, task.rows, trimming, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != 0) weight[i] = 0.0;
    }
    GrowthOptions own = growth;
    own.tree = growth.tree * static_cast<std::uint32_t>(n_trees) + static_cast<std::uint32_t>(tree);
    const Context alone = task.context.of_one_task();
    trees[tree] =
        grow_one(task, own, n_trees == 1 ? task.context : alone, target, weight, targets_are_signs);
  });
  return trees;
}

}  // namespace arboleda
