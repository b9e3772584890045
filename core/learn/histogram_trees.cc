#include <memory>
#include <vector>

#include "grow/histogram_grower.h"
#include "learn/boosted_trees.h"

namespace arboleda {

namespace {

class HistogramTrees : public BoostedTrees {
 public:
  HistogramTrees(const BinnedDataset& table, const HistogramOptions& options, int n_workers,
                 const Context& context) {
    const auto codes = make_row_codes(table, context, n_workers == 1);
    for (int i = 0; i < n_workers; ++i) {
      growers_.push_back(std::make_unique<HistogramGrower>(table, codes, options, context));
    }
  }

  TreeArrays grow(std::span<const RowIndex> rows, const Derivatives& derivatives,
                  std::uint32_t tree, int worker, LeafRows& leaves) override {
    HistogramGrower& grower = *growers_[static_cast<std::size_t>(worker)];
    return grower.grow(rows, derivatives, tree, leaves);
  }

 private:
  std::vector<std::unique_ptr<HistogramGrower>> growers_;  // one a worker
};

}  // namespace

std::unique_ptr<BoostedTrees> make_histogram_trees(const BinnedDataset& table,
                                                   const HistogramOptions& options, int n_workers,
                                                   const Context& context) {
  return std::make_unique<HistogramTrees>(table, options, n_workers, context);
}

}  // namespace arboleda
