#include "tree/leaf_rows.h"

namespace arboleda {

namespace {

// Rows of a leaf in a block, on average, from which looking for its ends there pays.
constexpr std::size_t kLeastRowsThere = 16;

// The share of the table's rows from which fetching all of them pays.
constexpr std::size_t kLeastShare = 8;

}  // namespace

std::size_t LeafRows::end_of_rows() const {
  std::size_t end = 0;
  for (const Leaf& leaf : leaves) {
    if (leaf.begin < leaf.end) end = std::max(end, std::size_t{rows[leaf.end - 1]} + 1);
  }
  return end;
}

std::size_t count_row_blocks(const LeafRows& leaves, std::size_t block_rows) {
  const std::size_t n_rows = leaves.rows.size();
  const std::size_t n_blocks = (n_rows + block_rows - 1) / block_rows;
  const bool pays = n_blocks * leaves.leaves.size() * kLeastRowsThere <= n_rows &&
                    leaves.end_of_rows() <= kLeastShare * n_rows;
  return n_blocks > 1 && pays ? n_blocks : 1;
}

}  // namespace arboleda
