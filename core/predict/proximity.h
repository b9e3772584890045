// Proximity of rows: the share of a forest's trees in which two rows reach the same leaf. Breiman (2001),
// "Random forests"; Breiman & Cutler, "Random forests" (manual), section "Proximities".
//
// Of training rows also among the trees that saw neither of the two: what a tree learned by heart then
// is not counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bagging/out_of_bag.h"
#include "base/context.h"
#include "data/column.h"
#include "predict/row_sums.h"
#include "tree/forest.h"

namespace arboleda {

// Table: TableView or SparseRows. The forest must outlive this, the table not.
class Proximity {
 public:
  // To the rows of a table. bags: count the trees that saw neither row only; the table is then the
  // training table, and so is every other. Else null.
  template <class Table>
  Proximity(const Forest& forest, const Table& table, const ForestBags* bags,
            const Context& context);

  // A row for each of some rows, a column for every row of the table that this was made of. first_row:
  // the number of the first of them in the training table, where bags count.
  template <class Table>
  SparseSums of(const Table& rows, std::size_t first_row, const Context& context) const;

 private:
  // The rows in each leaf of a tree.
  struct RowsByLeaf {
    std::vector<std::uint32_t> begin;
    std::vector<RowIndex> row;
  };

  void leave_out_bags(const ForestBags& bags, const Context& context);
  bool is_left_out(RowIndex row, std::size_t tree) const {
    return ((left_out_[row * n_words_ + tree / 64] >> (tree % 64)) & 1) != 0;
  }
  double n_trees_between(RowIndex a, RowIndex b) const;
  RowsByLeaf by_leaf(std::size_t tree, const std::vector<std::uint32_t>& leaf_of) const;
  void add_row(const NodeIndex* leaves, std::size_t row, RowSums& sums) const;

  const Forest& forest_;
  std::size_t n_rows_;
  std::size_t n_words_ = 0;              // of 64 trees; 0: all trees count
  std::vector<std::uint64_t> left_out_;  // row x words: bit t: tree t did not see the row
  std::vector<RowsByLeaf> trees_;
};

}  // namespace arboleda
