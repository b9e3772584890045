// Log-loss of K > 2 classes: the multinomial negative log-likelihood, K scores a row.
//
// With y in {0, ..., K-1} and p_k = exp F_k / sum_c exp F_c:
//   L          = log sum_c exp F_c - F_y
//   dL/dF_k    = p_k - [y = k]
//   d2L/dF_k^2 = p_k (1 - p_k)
// The trees of a round are grown independently: by the diagonal of the Hessian.
// Friedman (2001), algorithm 6, has steps (K-1)/K as long; the factor is that of his algorithm, not of
// the loss, and is left to the caller. The best constants are log of the classes' shares; the same
// number may be added to all, and they are given with sum 0: Friedman (2001), equation 29.
// https://doi.org/10.1214/aos/1013203451
#include <algorithm>
#include <array>
#include <numeric>

#include "objective/row_objective.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

class Softmax final : public RowObjective {
 public:
  Softmax(const LossData& data, std::size_t n_classes) : RowObjective(data, n_classes) {
    check_targets(data.target, "loss 'log_loss' needs classes 0, 1, .. below their number",
                  [n_classes](double y) {
                    return y >= 0.0 && y < static_cast<double>(n_classes) &&
                           y == static_cast<double>(static_cast<std::size_t>(y));
                  });
  }

  std::vector<double> start(std::span<const RowIndex> rows) const override {
    auto scores = class_shares(rows, n_outputs());
    for (double& score : scores) score = stable_log(score);
    const double mean =
        std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(n_outputs());
    for (double& score : scores) score -= mean;
    return scores;
  }

 private:
  void unit_gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                      std::span<double> gradient, std::span<double> hessian) const override {
    kernels().math.softmax(&scores[begin], n_rows(), n_outputs(), &target()[begin], end - begin,
                           &gradient[begin], &hessian[begin]);
  }

  // log sum_c exp(F_c - M) + (M - F_y) with M = max F_c.
  void unit_losses(std::span<const double> scores, std::span<const RowIndex> rows,
                   std::span<double> out) const override {
    std::array<double, kLossBlock> largest, x, e, sum{};
    const std::size_t n = rows.size();
    const auto score = [&](std::size_t k, std::size_t j) { return scores[k * n_rows() + rows[j]]; };
    for (std::size_t j = 0; j < n; ++j) largest[j] = score(0, j);
    for (std::size_t k = 1; k < n_outputs(); ++k) {
      for (std::size_t j = 0; j < n; ++j) largest[j] = std::max(largest[j], score(k, j));
    }
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      for (std::size_t j = 0; j < n; ++j) x[j] = score(k, j) - largest[j];
      kernels().math.exp(x.data(), n, e.data());
      for (std::size_t j = 0; j < n; ++j) sum[j] += e[j];
    }
    kernels().math.log(sum.data(), n, out.data());
    for (std::size_t j = 0; j < n; ++j) {
      out[j] += largest[j] - score(static_cast<std::size_t>(target()[rows[j]]), j);
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_softmax(const LossOptions& options, const LossData& data) {
  return std::make_unique<Softmax>(data, options.n_classes);
}

}  // namespace arboleda
