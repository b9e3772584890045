// A model prepared to predict row by row: what a batch derives from the trees for every table is derived
// once. The predictions have the bits of those for a table. No memory is taken for a row, but for what a
// thread keeps from its first row on. Safe to call from several threads at once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tree/ensemble.h"
#include "tree/forest.h"
#include "tree/member_votes.h"
#include "tree/tree.h"
#include "tree/votes.h"

namespace arboleda {

class OneRow {
 public:
  OneRow(std::size_t n_columns, std::size_t n_outputs)
      : n_columns_(n_columns), n_outputs_(n_outputs) {}
  virtual ~OneRow() = default;
  OneRow(const OneRow&) = delete;
  OneRow& operator=(const OneRow&) = delete;

  std::size_t n_columns() const { return n_columns_; }
  std::size_t n_outputs() const { return n_outputs_; }

  // row: n_columns numbers, NaN where one is missing; out: n_outputs.
  virtual void predict(const double* row, double* out) const = 0;

 private:
  std::size_t n_columns_, n_outputs_;
};

// The model must outlive what is made of it.

// The value of the leaf: predict_tree().
std::unique_ptr<OneRow> one_row_of(const Tree& tree);

// Start and all rounds: predict_scores(). n_columns: of a row, which an ensemble without trees does not
// know.
std::unique_ptr<OneRow> one_row_of(const TreeEnsemble& ensemble, std::size_t n_columns);

// The mean vote of all trees, of which there is at least one: mean_votes().
std::unique_ptr<OneRow> one_row_of(const Forest& forest, const Ballot& ballot);

// The sum of the weighted votes of all members: member_scores().
std::unique_ptr<OneRow> one_row_of(const Forest& forest, const MemberVotes& votes);

// The weighted median of the trees' values: median_values().
std::unique_ptr<OneRow> one_row_of(const Forest& forest, std::vector<double> weights);

}  // namespace arboleda
