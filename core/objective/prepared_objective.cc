#include "objective/prepared_objective.h"

#include <algorithm>

#include "base/exact_sum.h"

namespace arboleda {

PreparedObjective::PreparedObjective(const LossData& data)
    : Objective(data.target.size(), 1), data_(data) {}

std::vector<double> PreparedObjective::start(std::span<const RowIndex>) const { return {0.0}; }

void PreparedObjective::prepare(std::span<const double> scores, std::span<const RowIndex> rows,
                                std::uint32_t round, const Context& context) {
  if (!is_grouped_ || !std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end())) {
    is_grouped_ = true;
    rows_.assign(rows.begin(), rows.end());
    group(rows);
  }
  derive(scores, round, context);
}

double PreparedObjective::total_weight(std::span<const RowIndex> rows) const {
  std::vector<double> weights;
  weights.reserve(rows.size());
  for (const RowIndex row : rows) weights.push_back(weight_of(row));
  return exact_sum(data_.shards, weights);
}

}  // namespace arboleda
