// Growing a tree by a criterion. Every criterion compiles a search of its own, which takes seconds: only
// the file that is named after the criterion includes this.
#pragma once

#include <memory>

#include "grow/criterion_cells.h"
#include "grow/criterion_splitter.h"
#include "grow/grower.h"
#include "learn/grow_tree.h"

namespace arboleda {

template <class Criterion>
TreeArrays grow_by(const TreeTask& task, const Criterion& criterion,
                   bool scores_binary_features = false) {
  TreeCriterion erased{
      {criterion.n_outputs(), criterion.total_weight(), criterion.weight_unit(),
       criterion.impurity_exponent(), criterion.is_ordered(), Criterion::kSumsBinaryFeatures,
       scores_binary_features},
      [&](const BinnedDataset& table, const RowLayouts& layouts, const SearchOptions& options) {
        return std::make_unique<CriterionSplitter<Criterion>>(table, layouts, criterion, options);
      },
      nullptr};
  if constexpr (requires { requires Criterion::kSumsOverShards; }) {
    erased.make_shared = [&](const BinnedDataset& table, const SearchOptions& options) {
      return std::make_unique<CriterionCells<Criterion>>(table, criterion, options);
    };
  }
  return grow_tree(task, erased);
}

}  // namespace arboleda
