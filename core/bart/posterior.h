// Draws from the posterior of BART: what fitting hands to prediction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/column.h"

namespace arboleda {

struct PosteriorArrays {
  std::size_t n_draws = 0;
  std::size_t n_trees = 0;  // of a draw

  // Of each column: cut points, ascending, of all columns one behind the other; and for a categorical
  // column the number of its levels, which has no cut points (0: numeric).
  std::vector<std::int64_t> n_cuts, n_levels;
  std::vector<double> cuts;

  std::vector<std::int64_t> nodes;  // packed_node.h: draw by draw, tree by tree

  // The function of a draw at a row: centre + unit * (sum of its leaves' values).
  double centre = 0.0;
  double unit = 1.0;
};

class Posterior {
 public:
  // Throws Error(invalid_argument) unless the arrays are what is promised above, so that a Posterior that
  // exists is safe to walk, wherever its arrays came from.
  explicit Posterior(PosteriorArrays arrays);

  const PosteriorArrays& arrays() const { return arrays_; }
  std::size_t n_features() const { return arrays_.n_cuts.size(); }

  // Values of the draws [first, last) at every row: draws x rows, row-major. The bits do not depend on
  // the number of threads. Table: TableView or SparseRows, of n_features() columns.
  template <class Table>
  void draw(std::size_t first, std::size_t last, const Table& table, const Context& context,
            std::span<double> values) const;

  // The mean over all draws at every row.
  template <class Table>
  void mean(const Table& table, const Context& context, std::span<double> values) const;

  // How many rules of each draw read each column: draws x columns.
  std::vector<std::int64_t> split_counts() const;

  // How many leaves each tree has: draws x trees.
  std::vector<std::int64_t> leaf_counts() const;

 private:
  class Block;

  template <class Table>
  void fill(const Table& table, std::size_t begin, std::size_t end, Block& block) const;
  void check_columns();
  void check_draw();
  std::size_t check_tree(std::size_t begin, std::int64_t& largest) const;
  void add_draw(std::size_t draw, Block& block) const;

  PosteriorArrays arrays_;
  std::vector<std::size_t> first_cut_;   // of each column
  std::vector<std::size_t> line_of_;     // of each column in a block
  std::vector<FeatureIndex> used_;       // columns that a rule reads
  std::vector<std::size_t> first_node_;  // of each draw, and the end
};

}  // namespace arboleda
