// A loss that is defined by its derivatives alone, given by a function of the caller.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/shards.h"
#include "objective/objective.h"

namespace arboleda {

// scores, gradient, hessian: output-major over all rows; of the rows listed, gradient and hessian are
// to be written, without the rows' weights. Hessians are not negative.
using LossDerivatives =
    std::function<void(std::span<const double> scores, std::span<const RowIndex> rows,
                       std::span<double> gradient, std::span<double> hessian)>;

// Scores start from 0, and the loss itself is not known: it is NaN.
class CustomObjective : public Objective {
 public:
  // weight: one a row, or empty for "all 1"; must outlive this.
  CustomObjective(std::size_t n_rows, std::size_t n_outputs, std::span<const double> weight,
                  LossDerivatives derivatives, const Shards* shards = nullptr);

  std::vector<double> start(std::span<const RowIndex> rows) const override;

  // Computes the derivatives: all rows at once, on the calling thread.
  void prepare(std::span<const double> scores, std::span<const RowIndex> rows, std::uint32_t round,
               const Context& context) override;
  void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                 std::span<double> gradient, std::span<double> hessian) const override;

  double total_weight(std::span<const RowIndex> rows) const override;

 private:
  std::span<const double> weight_;
  LossDerivatives derivatives_;
  const Shards* shards_;
  std::vector<double> gradient_, hessian_;
};

}  // namespace arboleda
