#include "learn/boosted_trees.h"

namespace arboleda {

std::unique_ptr<BoostedTrees> make_trees(const BinnedDataset& table, const TreeGrowth& options,
                                         int n_workers, const Context& context) {
  if (const auto* exact = std::get_if<ExactGrowth>(&options)) {
    return make_exact_trees(table, *exact, n_workers, context);
  }
  return make_histogram_trees(table, std::get<HistogramOptions>(options), n_workers, context);
}

}  // namespace arboleda
