#include "criterion/log_rank.h"

#include "learn/criterion_trees.h"
#include "learn/grow_by_criterion.h"

namespace arboleda {

TreeArrays grow_log_rank_tree(const TreeTask& task, std::span<const double> targets,
                              bool by_scores) {
  return grow_by(
      task, LogRank(targets, task.weights,
                    by_scores ? LogRankStatistic::log_rank_score : LogRankStatistic::log_rank));
}

}  // namespace arboleda
