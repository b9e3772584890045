#include "predict/forest_leaves.h"

namespace arboleda {

namespace {

std::size_t ceil_of(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

WalkBy walk_for(std::span<const CompactTree> trees, FeatureIndex n_features, std::size_t n_rows) {
  std::size_t most_nodes = 0;
  bool narrow = true;
  for (const CompactTree& tree : trees) {
    most_nodes = std::max(most_nodes, tree.n_nodes());
    narrow = narrow && can_be_narrow(tree, n_features);
  }
  // To lay out a node takes as long as the rows gain by so many of them.
  constexpr std::size_t kCodedGain = 16, kNarrowGain = 4;
  const std::size_t n_columns = static_cast<std::size_t>(n_features);
  if (most_nodes < 2 * CodedTrees::kMostLeaves && n_columns < 2 * trees.size() &&
      n_rows >= std::max(kCodedGain * most_nodes, kTreeRows) && CodedTrees::can_hold(trees)) {
    return WalkBy::codes;
  }
  const bool many = n_rows >= most_nodes / kNarrowGain && n_rows >= kTreeRows;
  return narrow && many ? WalkBy::narrow_nodes : WalkBy::wide_nodes;
}

std::size_t BlockSize::rows(std::size_t n_rows, std::size_t bytes_a_row, int n_threads) const {
  const std::size_t most = std::clamp(most_bytes / bytes_a_row, kLanes, most_rows);
  const std::size_t share =
      ceil_of(std::max<std::size_t>(1, n_rows), static_cast<std::size_t>(std::max(1, n_threads)));
  return ceil_of(ceil_of(share, ceil_of(share, most)), kLanes) * kLanes;
}

}  // namespace arboleda
