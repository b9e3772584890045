// Trees on weights of (row, class): the members of AdaBoost.MH, .M2 and .MR.
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "criterion/label_weights.h"
#include "data/binned_dataset.h"
#include "grow/growth_options.h"
#include "tree/tree.h"

namespace arboleda {

// All must outlive the growing. labels: one a row, each below weights.n_classes.
struct LabelTask {
  const BinnedDataset& table;
  std::span<const std::uint32_t> labels;
  const LabelWeights& weights;
  const GrowthOptions& options;
  const Context& context;
};

// Leaves hold a confidence for each class: criterion/hamming.h. smoothing: in units of the weights.
TreeArrays grow_hamming_tree(const LabelTask& task, double smoothing);

// Leaves hold 1 for each class that ranks high, else `low`: criterion/label_ranking.h.
TreeArrays grow_ranking_tree(const LabelTask& task, double low);

}  // namespace arboleda
