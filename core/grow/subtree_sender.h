// Grows subtrees whose rows are in several shards: the rows are sent, each shard grows some of the subtrees as
// one of a whole table, and all get all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/fixed_weights.h"
#include "grow/growth_options.h"
#include "grow/subtree.h"
#include "tree/tree.h"

namespace arboleda {

class SubtreeSender {
 public:
  // All must outlive this.
  SubtreeSender(const BinnedDataset& table, const FixedWeights& weights, const SentTargets& targets,
                const GrowthOptions& options);

  // rows: of this shard, for each subtree. The context has the shards.
  std::vector<TreeArrays> grow(std::span<const std::span<const RowIndex>> rows,
                               std::span<const SubtreeRoot> roots, const Context& context) const;

 private:
  void write_rows(std::span<const RowIndex> rows, std::uint64_t* words) const;
  TreeArrays grow_one(std::span<const std::uint64_t> words, const SubtreeRoot& root,
                      const Context& context) const;

  const BinnedDataset& table_;
  const FixedWeights& weights_;
  const SentTargets& targets_;
  const GrowthOptions& options_;
  std::size_t n_code_words_ = 0, n_words_ = 0;  // of a row: codes, then its target and its weight
};

}  // namespace arboleda
