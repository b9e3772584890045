// Trees by a criterion of numeric targets, for one output and for several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.h"
#include "criterion/multi_output.h"
#include "learn/criterion_trees.h"
#include "learn/grow_by_criterion.h"

namespace arboleda {

template <class Criterion>
TreeArrays grow_targets(const TreeTask& task, const RegressionTargets& targets) {
  return grow_by(task, Criterion(targets.y, targets.fixed, task.weights));
}

template <class Criterion>
TreeArrays grow_target_outputs(const TreeTask& task, const MultiOutputTargets& targets) {
  const std::size_t n = task.table.n_rows;
  std::vector<Criterion> criteria;
  for (std::size_t k = 0; k < targets.fixed.size(); ++k) {
    criteria.emplace_back(targets.y.subspan(k * n, n), targets.fixed[k], task.weights);
  }
  return grow_by(task, MultiOutput<Criterion>(std::move(criteria)));
}

template <template <class, bool> class Criterion>
TreeArrays grow_means(const TreeTask& task, const RegressionTargets& targets) {
  if (!targets.narrow) return grow_targets<Criterion<Int128, true>>(task, targets);
  // Over shards, unit weights are written out: searching nodes of many rows takes no longer.
  return task.weights.is_unit() && task.context.shards() == nullptr
             ? grow_targets<Criterion<std::int64_t, false>>(task, targets)
             : grow_targets<Criterion<std::int64_t, true>>(task, targets);
}

template <template <class, bool> class Criterion>
inline constexpr RegressionTrees kMeanTrees{grow_means<Criterion>,
                                            grow_target_outputs<Criterion<Int128, true>>};

}  // namespace arboleda
