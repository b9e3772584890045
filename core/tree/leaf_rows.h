// The rows that a tree was grown on, leaf by leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "base/types.h"

namespace arboleda {

// The rows that reached each leaf, and what monotonic constraints leave to its value.
struct LeafRows {
  struct Leaf {
    NodeIndex node;          // of the tree
    std::size_t begin, end;  // its rows: rows[begin .. end), ascending
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
  };
  std::vector<RowIndex> rows;
  std::vector<Leaf> leaves;

  std::size_t end_of_rows() const;  // one more than the last row
};

// How many blocks of neighbouring rows of the table to go through, and through all leaves in each: what is
// kept for every row then comes from memory once a block, where a leaf alone would use one number of each
// of its cache lines. 1 where leaf after leaf takes less: few rows, few of the table's, or many leaves.
std::size_t count_row_blocks(const LeafRows& leaves, std::size_t block_rows);

// The rows of every leaf, block after block. Runs block(first, last, worker), rows [first, last) of the
// table, then body(leaf, begin, end, worker) for rows[begin .. end) of each leaf that has some there. With one
// block: runs body alone, for all rows of a leaf at once, and no two workers meet the same leaf.
template <class Block, class Body>
void for_each_leaf_by_blocks(const LeafRows& leaves, std::size_t n_blocks, int n_threads,
                             const Block& block, const Body& body) {
  const auto& all = leaves.leaves;
  if (n_blocks == 1) {
    parallel_for(n_threads, all.size(), [&](std::size_t i, int worker) {
      if (all[i].begin < all[i].end) body(i, all[i].begin, all[i].end, worker);
    });
    return;
  }
  const std::size_t n_table = leaves.end_of_rows();
  const RowIndex* rows = leaves.rows.data();
  const auto place_of = [&](const LeafRows::Leaf& leaf, std::size_t row) {
    if (row == n_table) return leaf.end;
    return static_cast<std::size_t>(std::lower_bound(rows + leaf.begin, rows + leaf.end, row) -
                                    rows);
  };
  parallel_for(n_threads, n_blocks, [&](std::size_t task, int worker) {
    const std::size_t first = task * n_table / n_blocks;
    const std::size_t last = (task + 1) * n_table / n_blocks;
    block(first, last, worker);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t begin = place_of(all[i], first);
      const std::size_t end = place_of(all[i], last);
      if (begin < end) body(i, begin, end, worker);
    }
  });
}

}  // namespace arboleda
