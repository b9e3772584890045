// The weighted median of members' predictions, as in AdaBoost.R and AdaBoost.R2.
//
//   inf { y : sum_{t: h_t <= y} w_t >= 1/2 sum_t w_t }
//
// Freund, Schapire (1997), section 5.3, figure 5; Drucker (1997), "Improving regressors using boosting
// techniques". Sums are taken in ascending order of the predictions, of equal ones in that of the members.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/context.h"
#include "data/column.h"
#include "tree/forest.h"

namespace arboleda {

struct WeightedValue {
  double value;
  double weight;
};

// values: ascending, at least one.
double weighted_median(std::span<const WeightedValue> values);

// The median of the trees' values for each row. weights: of the trees, not negative. Table: TableView
// or SparseRows.
template <class Table>
std::vector<double> median_values(const Forest& forest, std::span<const double> weights,
                                  const Table& table, const Context& context);

// Medians of rows, updated with the predictions of one member after the other.
class RunningMedians {
 public:
  explicit RunningMedians(std::size_t n_rows) : members_(n_rows) {}

  std::size_t n_rows() const { return members_.size(); }

  // One value a row, finite; the weight is not negative.
  void add(std::span<const double> values, double weight, const Context& context);

  // At least one member was added.
  std::vector<double> medians(const Context& context) const;

 private:
  std::vector<std::vector<WeightedValue>> members_;
};

}  // namespace arboleda
