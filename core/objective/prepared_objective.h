// The base of losses that compare rows with each other: prepare() finds what the derivatives need of all rows at once.
// Their scores start from 0, and they have no loss of single rows.
//
// Rows of weight 0 are not among those that boosting learns from, and so are not compared.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "objective/losses.h"
#include "objective/objective.h"

namespace arboleda {

class PreparedObjective : public Objective {
 public:
  std::vector<double> start(std::span<const RowIndex> rows) const final;
  void prepare(std::span<const double> scores, std::span<const RowIndex> rows, std::uint32_t round,
               const Context& context) final;
  double total_weight(std::span<const RowIndex> rows) const final;

 protected:
  explicit PreparedObjective(const LossData& data);

  // Called at first, and when the rows are not those of the call before: by all shards or by none.
  virtual void group(std::span<const RowIndex> rows) = 0;
  virtual void derive(std::span<const double> scores, std::uint32_t round,
                      const Context& context) = 0;

  const LossData& data() const { return data_; }
  std::span<const RowIndex> rows() const { return rows_; }
  double weight_of(RowIndex row) const { return data_.weight.empty() ? 1.0 : data_.weight[row]; }

 private:
  LossData data_;
  std::vector<RowIndex> rows_;  // as given
  bool is_grouped_ = false;
};

}  // namespace arboleda
