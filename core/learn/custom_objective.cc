#include "learn/custom_objective.h"

#include <utility>

namespace arboleda {

CustomObjective::CustomObjective(std::size_t n_rows, std::size_t n_outputs,
                                 std::span<const double> weight, LossDerivatives derivatives,
                                 const Shards* shards)
    : Objective(n_rows, n_outputs),
      weight_(weight),
      derivatives_(std::move(derivatives)),
      shards_(shards) {}

std::vector<double> CustomObjective::start(std::span<const RowIndex>) const {
  return std::vector<double>(n_outputs());
}

void CustomObjective::prepare(std::span<const double> scores, std::span<const RowIndex> rows,
                              std::uint32_t, const Context&) {
  gradient_.resize(scores.size());
  hessian_.resize(scores.size());
  if (!rows.empty()) derivatives_(scores, rows, gradient_, hessian_);
}

void CustomObjective::gradients(std::span<const double>, std::size_t begin, std::size_t end,
                                std::span<double> gradient, std::span<double> hessian) const {
  for (std::size_t k = 0; k < n_outputs(); ++k) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t i = k * n_rows() + row;
      const double weight = weight_.empty() ? 1.0 : weight_[row];
      gradient[i] = weight * gradient_[i];
      hessian[i] = weight * hessian_[i];
    }
  }
}

double CustomObjective::total_weight(std::span<const RowIndex> rows) const {
  if (!is_any(shards_, !weight_.empty())) {
    return static_cast<double>(sum_of_all(shards_, rows.size()));
  }
  std::vector<double> weights;
  weights.reserve(rows.size());
  for (const RowIndex row : rows) weights.push_back(weight_[row]);
  return exact_sum(shards_, weights);
}

}  // namespace arboleda
