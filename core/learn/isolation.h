// Isolation forests: trees that split at random until each of a few rows is alone. A row that few splits
// part from the others is unusual. F. T. Liu, K. M. Ting, Z.-H. Zhou (2008), "Isolation forest", ICDM.
//
//   for every tree t, several at the same time:
//     draw a few rows (256, say), and columns if not all
//     split them (one that was drawn again counts once) until a node has one row, rows that are all the same, or depth ceil(log2(rows drawn))
//     a leaf of n rows at depth e holds the path length e + c(n)
//
// c(n) is the mean path length of an unsuccessful search in a binary search tree of n keys:
//   c(n) = 2 H(n - 1) - 2 (n - 1) / n,   H(i) = ln i + 0.5772156649 (Euler's constant);   c(2) = 1,   c(1) = 0.
//
// A node splits by one column, drawn from those that vary in it, at a threshold uniform between the
// smallest and the largest value; categories present go left with probability 1/2 each, drawn again
// until both sides have one. Missing values and unseen categories go to the side of more of the rows
// that are not missing: left, if both have as many. So a missing value by itself isolates no row.
//
// The extended form splits by hyperplanes instead: sum_j w_j (x_j - p_j) <= 0 goes left, with normals w_j
// from N(0, 1) for a few columns that vary in the node, and p uniform in the box of its rows. A missing
// value is counted as p_j. A side may have no row: a leaf of path length e. S. Hariri, M. Carrasco Kind,
// R. J. Brunner (2019), "Extended isolation forest", IEEE TKDE 33(4), https://doi.org/10.1109/TKDE.2019.2947676
//
// Tree t is a function of (table, weights, options, seed, t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bagging/bags.h"
#include "base/context.h"
#include "data/table_cells.h"
#include "tree/forest.h"
#include "tree/hyperplanes.h"

namespace arboleda {

struct IsolationOptions {
  std::uint32_t n_trees = 100;
  std::uint32_t first_tree = 0;  // number of the first of them
  std::size_t n_drawn = 256;     // rows of a tree
  bool with_replacement = false;
  ColumnDraw columns;        // of a tree
  FeatureIndex n_terms = 1;  // columns of a hyperplane
};

// The mean path length of an unsuccessful search among n keys.
double mean_path_length(std::size_t n);

// The rows of a tree, ascending, those drawn again repeated. weights: a row is drawn with probability in
// proportion to its weight, without replacement one after the other; empty: all the same.
std::vector<RowIndex> draw_isolated_rows(const IsolationOptions& options, std::size_t n_rows,
                                         std::span<const double> weights, std::uint64_t seed,
                                         std::uint32_t tree);

// The rows that trees are grown from.
struct IsolationRows {
  TableCells table;
  std::vector<std::int64_t> n_levels = {};  // of each column, 0 for one of numbers; empty: all are
  std::span<const double> weights = {};     // empty: all the same
};

// Trees that split by one column; their mean vote is the mean path length.
Forest fit_isolation_forest(const IsolationRows& rows, const IsolationOptions& options,
                            const Context& context);

// Trees that split by hyperplanes, of columns of numbers.
HyperplaneForest fit_hyperplane_forest(const IsolationRows& rows, const IsolationOptions& options,
                                       const Context& context);

}  // namespace arboleda
