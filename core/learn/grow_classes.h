// Trees by a measure of class weights, for one output and for several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "criterion/class_weights.h"
#include "criterion/multi_output.h"
#include "learn/criterion_trees.h"
#include "learn/grow_by_criterion.h"

namespace arboleda {

template <template <class> class Measure>
TreeArrays grow_classes(const TreeTask& task, std::span<const std::uint32_t> labels,
                        std::size_t n_classes) {
  using Narrow = ClassCriterion<std::uint32_t, Measure>;
  const bool is_narrow = fits_narrow(task.weights, n_classes);
  if (is_narrow && task.context.shards() == nullptr) {
    return grow_by(task, Narrow(labels, n_classes, task.weights));
  }
  return grow_by(task, ClassCriterion<std::uint64_t, Measure>(labels, n_classes, task.weights),
                 is_narrow && Narrow::kScoresBinaryFeatures && task.weights.largest <= UINT8_MAX);
}

template <template <class> class Measure>
TreeArrays grow_class_outputs(const TreeTask& task, std::span<const std::uint32_t> labels,
                              std::span<const std::size_t> n_classes) {
  using Criterion = ClassCriterion<std::uint64_t, Measure>;
  const std::size_t n = task.table.n_rows;
  std::vector<Criterion> criteria;
  for (std::size_t k = 0; k < n_classes.size(); ++k) {
    criteria.emplace_back(labels.subspan(k * n, n), n_classes[k], task.weights);
  }
  return grow_by(task, MultiOutput<Criterion>(std::move(criteria)));
}

template <template <class> class Measure>
inline constexpr ClassTrees kClassTrees{grow_classes<Measure>, grow_class_outputs<Measure>};

}  // namespace arboleda
