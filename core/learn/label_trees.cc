#include "learn/label_trees.h"

#include "criterion/hamming.h"
#include "criterion/label_ranking.h"
#include "learn/grow_by_criterion.h"

namespace arboleda {

namespace {

template <class Measure>
TreeArrays grow(const LabelTask& task, const Measure& measure) {
  require(task.options.monotonic.empty(),
          "monotonic constraints do not apply to votes for several classes");
  FixedWeights rows;
  rows.dropped = task.weights.dropped;
  return grow_by({task.table, rows, task.options, task.context},
                 LabelCriterion<Measure>(task.labels, task.weights, measure));
}

}  // namespace

TreeArrays grow_hamming_tree(const LabelTask& task, double smoothing) {
  return grow(task, Hamming(smoothing));
}

TreeArrays grow_ranking_tree(const LabelTask& task, double low) {
  return grow(task, LabelRanking(low));
}

}  // namespace arboleda
