// Estimates from the rows that a tree did not see: Breiman (2001), "Random forests", Machine Learning
// 45, sections 3.1 and 10. Which rows those are is found by drawing the bags again.
//
//   votes        the sum of the votes of the trees that did not see a row, and the number of these trees
//   curve        the error of those votes after 1, 2, .. trees
//   permutation  the increase of the error of each tree on its left-out rows when the values of a column
//                are permuted among them
//
// Error: the share of rows whose largest vote is for another class than theirs, or the mean squared
// error; the mean over several outputs. Rows count equally, except that rows of weight 0 are ignored.
// Nothing depends on the number of threads. Table: TableView or SparseRows, the rows of the fit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagging/bags.h"
#include "base/context.h"
#include "data/column.h"
#include "tree/forest.h"
#include "tree/votes.h"

namespace arboleda {

// The bags of a forest, whose first tree has this number.
struct ForestBags {
  const BagDraw& draw;
  std::uint32_t first_tree = 0;
};

struct OutOfBagVotes {
  std::vector<double> sums;            // rows x outputs, row-major
  std::vector<std::uint32_t> n_trees;  // that voted, of each row
};
template <class Table>
OutOfBagVotes out_of_bag_votes(const Forest& forest, const Ballot& ballot, const Table& table,
                               const ForestBags& bags, const Context& context);

// The true targets of the rows. All of output 0, then all of output 1, ...
struct OutOfBagTarget {
  std::span<const std::uint32_t> labels = {};  // of classification, else empty
  std::span<const std::size_t> n_classes = {};
  std::span<const double> values = {};
};

struct OutOfBagCurve {
  std::vector<double> error;            // after each tree; NaN while no row has a vote
  std::vector<std::uint64_t> n_scored;  // rows that have a vote
};
template <class Table>
OutOfBagCurve out_of_bag_curve(const Forest& forest, const Ballot& ballot, const Table& table,
                               const ForestBags& bags, const OutOfBagTarget& target,
                               const Context& context);

// Trees x columns, row-major; NaN for a tree that saw every row. Trees alone vote hard. The permutation
// is one for each (seed, tree, column).
template <class Table>
std::vector<double> out_of_bag_permutation(const Forest& forest, const Table& table,
                                           const ForestBags& bags, const OutOfBagTarget& target,
                                           const Context& context);

}  // namespace arboleda
