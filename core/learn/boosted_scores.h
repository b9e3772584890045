// The scores that boosting updates tree by tree, for some rows of a table.
//
//   scores   row 0 .. n-1 of output 0 | row 0 .. n-1 of output 1 | ...
//
// The predictions of a tree are added one tree after the other, as in prediction: a row has the same
// score, to the bit, in training and in prediction. Rows that are not updated keep their start.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/binned_dataset.h"
#include "tree/ensemble.h"
#include "tree/leaf_rows.h"
#include "tree/linear_leaves.h"

namespace arboleda {

class BoostedScores {
 public:
  // start: one an output; offset: what is added to it, one a score, or empty for 0. The table must
  // outlive this.
  BoostedScores(const BinnedDataset& table, std::span<const double> start,
                std::span<const double> offset);

  const BinnedDataset& table() const { return *table_; }
  std::size_t n_outputs() const { return scores_.size() / table_->n_rows; }
  std::span<const double> all() const { return scores_; }
  std::span<double> of(std::size_t output) {
    return std::span(scores_).subspan(output * table_->n_rows, table_->n_rows);
  }

  // Adds the value of each row's leaf: leaves known; or found from the codes, and times a factor.
  void add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
           const LeafRows& leaves, const Context& context);
  void add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
           std::span<const RowIndex> rows, const Context& context, double factor = 1.0);

  // Adds all trees of an ensemble, in order.
  void add(const TreeEnsemble& ensemble, std::span<const RowIndex> rows, const Context& context);

 private:
  const BinnedDataset* table_;
  std::vector<double> scores_;
};

}  // namespace arboleda
