#include <algorithm>
#include <vector>

#include "grow/code_tree.h"
#include "learn/boosted_trees.h"
#include "learn/cart.h"
#include "tree/prune.h"

namespace arboleda {

namespace {

class ExactTrees : public BoostedTrees {
 public:
  ExactTrees(const BinnedDataset& table, const ExactGrowth& options, int n_workers,
             const Context& context)
      : table_(table),
        options_(options),
        context_(context),
        workers_(static_cast<std::size_t>(n_workers)) {}

  TreeArrays grow(std::span<const RowIndex> rows, const Derivatives& derivatives,
                  std::uint32_t tree, int worker, LeafRows& leaves) override {
    Worker& mine = workers_[static_cast<std::size_t>(worker)];
    set_targets(rows, derivatives, mine);
    GrowthOptions growth = options_.growth;
    growth.tree = tree;
    Tree grown = fit_regression_tree(table_, mine.target, mine.weight,
                                     RegressionMeasure::squared_error, growth, context_);
    if (options_.ccp_alpha > 0.0) grown = pruned(grown, options_.ccp_alpha);

    mine.leaf.resize(rows.size());
    find_leaves(CodeTree(grown.arrays(), table_), rows, context_, mine.leaf);
    leaves = group_by_leaf(grown.arrays(), rows, mine.leaf);
    return grown.arrays();
  }

 private:
  struct Worker {
    std::vector<double> target, weight;
    std::vector<NodeIndex> leaf;
  };

  // Minus the gradient of a row of weight 1; other rows have the weight 0, which CART leaves out.
  void set_targets(std::span<const RowIndex> rows, const Derivatives& derivatives,
                   Worker& mine) const {
    mine.target.assign(table_.n_rows, 0.0);
    mine.weight.assign(table_.n_rows, 0.0);
    const bool weighted = !derivatives.weight.empty();
    for (const RowIndex row : rows) {
      mine.weight[row] = weighted ? derivatives.weight[row] : 1.0;
      mine.target[row] = -derivatives.gradient[row] / mine.weight[row];
    }
    if (!weighted && rows.size() == table_.n_rows) mine.weight.clear();
  }

  const BinnedDataset& table_;
  const ExactGrowth options_;
  const Context& context_;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<BoostedTrees> make_exact_trees(const BinnedDataset& table,
                                               const ExactGrowth& options, int n_workers,
                                               const Context& context) {
  return std::make_unique<ExactTrees>(table, options, n_workers, context);
}

}  // namespace arboleda
