// The trees of a round, for both kinds of boosting behind one interface.
//
//   exact       CART on minus the gradient, by squared error; leaves are given their steps afterwards
//   histogram   second-order gain; leaves hold Newton steps as they are grown
//   replayed    the splits of trees that were grown before; only the values of nodes are new
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "grow/growth_options.h"
#include "split/histogram_options.h"
#include "split/row_derivatives.h"
#include "tree/ensemble.h"
#include "tree/leaf_rows.h"
#include "tree/tree.h"

namespace arboleda {

// Derivatives of one output, and the weights of the rows that are in them; empty weights: all are 1.
struct Derivatives : RowDerivatives {
  std::span<const double> weight;
};

class BoostedTrees {
 public:
  virtual ~BoostedTrees() = default;

  // rows: ascending, of positive weight, at least one. tree: its number in the ensemble. Calls with
  // different numbers of `worker` may run at the same time.
  virtual TreeArrays grow(std::span<const RowIndex> rows, const Derivatives& derivatives,
                          std::uint32_t tree, int worker, LeafRows& leaves) = 0;
};

struct ExactGrowth {
  GrowthOptions growth;
  double ccp_alpha = 0.0;  // each tree is pruned by it before its leaves get their steps
};

using TreeGrowth = std::variant<HistogramOptions, ExactGrowth>;

// Table and context must outlive what is made.
std::unique_ptr<BoostedTrees> make_exact_trees(const BinnedDataset& table,
                                               const ExactGrowth& options, int n_workers,
                                               const Context& context);
std::unique_ptr<BoostedTrees> make_histogram_trees(const BinnedDataset& table,
                                                   const HistogramOptions& options, int n_workers,
                                                   const Context& context);
// Trees of `structure`, which must outlive what is made; gains stay those of growing. A leaf that no
// row reaches gets the value 0.
std::unique_ptr<BoostedTrees> make_refit_trees(const BinnedDataset& table,
                                               const TreeEnsemble& structure,
                                               const TreeGrowth& options, const Context& context);
std::unique_ptr<BoostedTrees> make_trees(const BinnedDataset& table, const TreeGrowth& options,
                                         int n_workers, const Context& context);

}  // namespace arboleda
