#include "learn/member_grower.h"

#include <utility>

namespace arboleda {

MemberGrower::MemberGrower(const BoosterTask& task) : task_(task) {
  if (task.options.measure == ClassMeasure::gini &&
      StumpGrower::can_grow(task.table, task.n_classes, task.options.growth)) {
    stumps_.emplace(task.table, task.labels, task.rows);
  } else if (task.options.growth.looks_at_all(task.table.n_features())) {
    layouts_.lists = BinaryFeatureLists(task.table);
  }
}

std::vector<TreeArrays> MemberGrower::grow(const FixedWeights& weights,
                                           const GrowthOptions& growth) {
  std::vector<TreeArrays> trees;
  if (stumps_) {
    trees.push_back(stumps_->grow(weights, task_.context));
  } else {
    trees.push_back(
        grow_classification_tree({task_.table, weights, growth, task_.context, nullptr, &layouts_},
                                 task_.labels, task_.n_classes, task_.options.measure));
  }
  return trees;
}

}  // namespace arboleda
