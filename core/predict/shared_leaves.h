// How many trees rows of the same group share their leaf in, squared and added up: what outlier scores
// are made of. Breiman & Cutler, "Random forests" (manual), section "Outliers".
//
// With c(i, j) the number of trees in which rows i and j reach the same leaf, the sum over the rows j of
// the group of i is counted in the cheaper of two ways:
//
//   row by row    c(i, j) of all rows that meet i in some leaf: as many steps as leaves hold rows, so
//                 quadratic in the rows where leaves are large
//   tree by tree  sum_j c(i, j)^2 = sum over pairs of trees (s, t) of the rows that share the leaf of i
//                 in both, so that a pair of trees takes a pass over the rows, however large the leaves
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "tree/forest.h"

namespace arboleda {

enum class SharedLeavesBy : std::uint8_t { cheaper, row, tree };

// Of each row; it shares the leaves of all trees with itself. group: of each row, from 0 on. Sums of
// integers: neither the way nor the number of threads has an influence. Table: TableView or SparseRows.
template <class Table>
std::vector<std::uint64_t> squared_shared_leaves(const Forest& forest, const Table& table,
                                                 std::span<const std::uint32_t> group,
                                                 const Context& context,
                                                 SharedLeavesBy by = SharedLeavesBy::cheaper);

}  // namespace arboleda
