// Losses of pairs of rows of a query: lambdarank and pairwise.
//
// A pair of rows i, j with gain_i > gain_j has the loss
//   L = W_ij log(1 + exp -(F_i - F_j)),   rho = 1 / (1 + exp (F_i - F_j)),
//   dL/dF_i = -W rho = -dL/dF_j,   d2L/dF_i^2 = W rho (1 - rho) = d2L/dF_j^2.
//
// pairwise: W = 1, all pairs. Burges et al. (2005), "Learning to rank using gradient descent", ICML.
//
// lambdarank: W = |change of NDCG if i and j swapped their ranks|, taken as a constant,
//   = |gain_i - gain_j| |1/log2(1 + rank_i) - 1/log2(1 + rank_j)| / (largest DCG of the first T ranks),
// for pairs of which one row is among the first T ranks (the truncation level). Burges (2010), "From RankNet to
// LambdaRank to LambdaMART: an overview", MSR-TR-2010-82. As in LightGBM, W is divided by 0.01 + |F_i - F_j|
// unless all scores of the query are equal.
//
// Both: the derivatives of a query with S = sum over pairs of |dL/dF_i| + |dL/dF_j| are multiplied by log2(1 + S) / S,
// so that a query with many pairs does not outweigh others. Rows of equal scores rank in their order in the table.
// https://www.microsoft.com/en-us/research/publication/from-ranknet-to-lambdarank-to-lambdamart-an-overview/
#include <algorithm>
#include <functional>

#include "base/error.h"
#include "objective/query_objective.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Exponentials of scores that lie closer can be added and divided.
constexpr double kLargestSpread = 300.0;

class RankedPairs final : public QueryObjective {
 public:
  RankedPairs(bool is_by_ndcg, const LossOptions& options, const LossData& data)
      : QueryObjective(options, data),
        is_by_ndcg_(is_by_ndcg),
        truncation_(options.truncation_level) {
    require(truncation_ > 0, "the truncation level is at least 1");
  }

 private:
  void describe_queries() override {
    scale_.assign(n_queries(), 0.0);
    std::vector<double> gain;
    for (std::size_t q = 0; q < n_queries(); ++q) {
      const auto all = gains_of(q);
      gain.assign(all.begin(), all.end());
      std::sort(gain.begin(), gain.end(), std::greater<>());
      double dcg = 0.0;
      for (std::size_t rank = 0; rank < std::min(truncation_, gain.size()); ++rank) {
        dcg += gain[rank] * discounts()[rank];
      }
      if (dcg > 0.0) scale_[q] = 1.0 / dcg;
    }
  }

  void derive_rows(std::size_t query, const QueryRows& rows, std::uint32_t, std::uint64_t,
                   QueryScratch& scratch) const override {
    rank_rows(rows, scratch);
    const std::size_t n = rows.rows.size();
    const double spread = scratch.score.front() - scratch.score[n - 1];
    const RankedRows ranked{n,
                            scratch.score.data(),
                            scratch.strength.data(),
                            scratch.gain.data(),
                            discounts().data(),
                            is_by_ndcg_,
                            spread > 0.0 ? scale_[query] : 0.01 * scale_[query],
                            scratch.gradient.data(),
                            scratch.hessian.data()};
    const std::size_t n_first = is_by_ndcg_ ? std::min(truncation_, n - 1) : n - 1;
    if (spread <= kLargestSpread) set_strengths(n, 0, scratch);
    double size = 0.0;
    for (std::size_t i = 0; i < n_first; ++i) {
      if (!(spread <= kLargestSpread)) set_strengths(n, i, scratch);
      size += kernels().ranking.add_pairs(ranked, i);
    }
    size *= 2.0;
    const double factor = size > 0.0 ? stable_log(1.0 + size) / (stable_log(2.0) * size) : 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      scratch.row_gradient[scratch.ranked[i].number] = factor * scratch.gradient[i];
      scratch.row_hessian[scratch.ranked[i].number] = factor * scratch.hessian[i];
    }
  }

  static void rank_rows(const QueryRows& rows, QueryScratch& scratch) {
    const std::size_t n = rows.rows.size();
    for (std::size_t i = 0; i < n; ++i) {
      scratch.ranked[i] = {rows.score[i], static_cast<std::uint32_t>(i)};
    }
    std::sort(scratch.ranked.begin(), scratch.ranked.begin() + static_cast<std::ptrdiff_t>(n),
              ranks_before);
    for (std::size_t i = 0; i < n + kRankingPadding; ++i) {
      const RankedRow& row = scratch.ranked[std::min(i, n - 1)];
      scratch.score[i] = row.score;
      scratch.gain[i] = rows.gain[row.number];
      scratch.gradient[i] = scratch.hessian[i] = 0.0;
    }
  }

  // exp(F_j - F_i) for all rows j from the row of rank i on.
  static void set_strengths(std::size_t n, std::size_t i, QueryScratch& scratch) {
    const std::size_t n_all = n + kRankingPadding;
    for (std::size_t j = i; j < n_all; ++j) {
      scratch.strength[j] = scratch.score[j] - scratch.score[i];
    }
    kernels().math.exp(&scratch.strength[i], n_all - i, &scratch.strength[i]);
  }

  bool is_by_ndcg_;
  std::size_t truncation_;
  std::vector<double> scale_;  // 1 / the largest DCG of each query, 0 without any gain
};

}  // namespace

std::unique_ptr<Objective> make_lambdarank(const LossOptions& options, const LossData& data) {
  return std::make_unique<RankedPairs>(true, options, data);
}

std::unique_ptr<Objective> make_pairwise(const LossOptions& options, const LossData& data) {
  return std::make_unique<RankedPairs>(false, options, data);
}

}  // namespace arboleda
