// XE-NDCG: a cross entropy between rankings that bounds NDCG.
//
//   L = -sum_i p_i log rho_i,   rho = softmax of the scores of a query,   p_i = phi_i / sum_j phi_j,
//   phi_i = 2^y_i - gamma_i,   gamma_i uniform on [0, 1), drawn anew for each row in each round.
//   dL/dF_i = rho_i - p_i,   d2L/dF_i^2 = rho_i (1 - rho_i)
// With other gains, 2^y_i is gain_i + 1. A query of one row, or of phi 0, has no derivatives. Bruch (2021), "An
// alternative cross entropy loss for learning-to-rank", WWW '21, https://doi.org/10.1145/3442381.3449794
#include <algorithm>

#include "base/random.h"
#include "objective/query_objective.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

class XeNdcg final : public QueryObjective {
 public:
  XeNdcg(const LossOptions& options, const LossData& data) : QueryObjective(options, data) {}

 private:
  void derive_rows(std::size_t, const QueryRows& rows, std::uint32_t round, std::uint64_t seed,
                   QueryScratch& scratch) const override {
    const std::size_t n = rows.rows.size();
    const double largest = *std::max_element(rows.score.begin(), rows.score.end());
    const std::uint64_t root = QuickStream::root(seed, Purpose::ranking_loss, round);
    const std::uint64_t first = first_row(data().shards);
    double total = 0.0, total_phi = 0.0;
    for (std::size_t i = 0; i < n; ++i) scratch.score[i] = rows.score[i] - largest;
    kernels().math.exp(scratch.score.data(), n, scratch.strength.data());
    for (std::size_t i = 0; i < n; ++i) {
      scratch.gain[i] = rows.gain[i] + 1.0 - QuickStream(root, first + rows.rows[i]).uniform();
      total += scratch.strength[i];
      total_phi += scratch.gain[i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double rho = scratch.strength[i] / total;
      scratch.row_gradient[i] = n > 1 ? rho - scratch.gain[i] / total_phi : 0.0;
      scratch.row_hessian[i] = n > 1 ? rho * (1.0 - rho) : 0.0;
    }
  }
};

}  // namespace

std::unique_ptr<Objective> make_xe_ndcg(const LossOptions& options, const LossData& data) {
  return std::make_unique<XeNdcg>(options, data);
}

}  // namespace arboleda
