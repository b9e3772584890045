// A forest as a weighted neighbourhood: its prediction for a row x is a mean of training targets,
//
//   h(x) = sum_i W(i, x) y_i,     W(i, x) = 1/T sum_t w_ti [i in leaf_t(x)] / sum_{j in leaf_t(x)} w_tj
//
// where w_ti is what training row i weighs in tree t: how often it was drawn into the tree's bag, times
// its sample weight. The weights of a row x are not negative and add up to 1. Lin & Jeon (2006), "Random
// forests and adaptive nearest neighbors", JASA 101.
//
// The same weights give the distribution of the target at x: F(y | x) = sum_i W(i, x) [y_i <= y], and
// its quantiles: Meinshausen (2006), "Quantile regression forests", JMLR 7, section 3.
//
// The forest keeps the rows of its leaves; how often each was drawn is drawn again from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bagging/out_of_bag.h"
#include "base/context.h"
#include "data/column.h"
#include "predict/row_sums.h"
#include "tree/forest.h"

namespace arboleda {

// What training rows weigh, besides how often they were drawn.
struct NeighborWeights {
  std::span<const double> sample = {};  // one a row; empty: all 1
  // Where the classes of each bag were weighed so that they count the same: n_rows labels of output 0,
  // then of output 1, ...; and the number of classes of each output. Else empty.
  std::span<const std::uint32_t> labels = {};
  std::span<const std::size_t> n_classes = {};
};

// Targets of training rows, several outputs one after the other, and which quantiles are wanted.
struct WantedQuantiles {
  std::span<const double> targets;
  std::size_t n_outputs = 1;
  std::span<const double> levels;  // from 0 to 1
};

// Table: TableView or SparseRows. What a table's rows get depends neither on the other rows nor on the
// number of threads.
class Neighborhood {
 public:
  // The forest must outlive this, `weights` not. Throws Error(invalid_argument) where the forest keeps
  // no rows or others than those of the bags.
  Neighborhood(const Forest& forest, const ForestBags& bags, std::size_t n_rows,
               const NeighborWeights& weights, const Context& context);

  std::size_t n_rows() const { return n_rows_; }

  // W: a row for every row of the table, a column for every training row.
  template <class Table>
  SparseSums weights(const Table& table, const Context& context) const;

  // inf{y : F(y | x) >= level}, and for level 0 the smallest y with a weight: rows of the table x
  // outputs x levels, row-major.
  template <class Table>
  std::vector<double> quantiles(const Table& table, const WantedQuantiles& wanted,
                                const Context& context) const;

 private:
  // What is known of the rows of a tree's leaves besides their numbers, which the tree has.
  struct RowsByLeaf {
    std::vector<std::uint32_t> begin;  // of each leaf, and the end of the last one
    std::vector<std::uint16_t> count;  // of draws, one a row; none: all 1
    std::vector<double> total;         // weight of each leaf
    std::vector<double> class_weight;  // of the classes of all outputs; none: all 1
  };

  void learn(std::size_t tree, const ForestBags& bags, std::vector<std::uint32_t>& counts);
  double weight_of(std::size_t tree, std::size_t place) const;

  template <class Table, class Visit>
  void for_each_row(const Table& table, const Context& context, const Visit& visit) const;
  void add_leaf(std::size_t tree, NodeIndex node, RowSums& sums) const;

  const Forest& forest_;
  const std::size_t n_rows_;
  std::vector<double> sample_weight_;
  std::vector<std::uint32_t> labels_;
  std::vector<std::size_t> n_classes_;
  std::vector<RowsByLeaf> trees_;
};

}  // namespace arboleda
