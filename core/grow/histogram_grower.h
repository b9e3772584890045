// Grows the trees of a boosted ensemble by histograms of gradients and hessians.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "split/histogram_options.h"
#include "split/row_derivatives.h"
#include "split/vector_gradients.h"
#include "tree/leaf_rows.h"
#include "tree/tree.h"

namespace arboleda {

class RowCodes;

// The codes of a coded table row by row; made once, read by every grower. Of one alone, gradients may lie
// beside them.
std::shared_ptr<const RowCodes> make_row_codes(const BinnedDataset& table, const Context& context,
                                               bool has_one_reader = false);

// One grower grows one tree at a time. Growers on different threads share table and codes.
class HistogramGrower {
 public:
  HistogramGrower(const BinnedDataset& table, std::shared_ptr<const RowCodes> codes,
                  const HistogramOptions& options, const Context& context);
  ~HistogramGrower();

  // rows: ascending, at least one in all shards.
  // `tree` is the number of the tree, for randomness. Leaves hold Newton's step, without learning
  // rate. Thresholds lie midway between neighbouring codes of the table, so that a row's code alone
  // decides its path.
  TreeArrays grow(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
                  std::uint32_t tree, LeafRows& leaves);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Grows trees that all outputs share: every leaf has a step for each (split/vector_search.h). Neither
// symmetric nor with monotonic constraints.
class VectorGrower {
 public:
  // n_outputs: of what splits are searched by.
  VectorGrower(const BinnedDataset& table, const HistogramOptions& options, std::size_t n_outputs,
               const Context& context);
  ~VectorGrower();

  // As HistogramGrower's; a tree for each output of `derivatives`, of the same splits, which are those
  // that are best for `searched`: the same derivatives, or a sketch of them, of fewer outputs.
  std::vector<TreeArrays> grow(std::span<const RowIndex> rows, const VectorDerivatives& searched,
                               const VectorDerivatives& derivatives, std::uint32_t tree,
                               LeafRows& leaves);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace arboleda
