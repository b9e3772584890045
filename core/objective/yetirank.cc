// YetiRank: pairs that are neighbours in random rankings near the present one.
//
// In each of B = 10 rankings, rows are ordered by F_i + log(u_i / (1 - u_i)), u uniform on [0, 1), so that row i
// comes before row j with a probability that grows with F_i - F_j. A pair of neighbours i, j at ranks r and r + 1
// (from 1 on) with y_i > y_j has the loss
//   L = W log(1 + exp -(F_i - F_j)),   W = (y_i - y_j) / (r B),   rho = 1 / (1 + exp (F_i - F_j)),
//   dL/dF_i = -W rho = -dL/dF_j,   d2L/dF_i^2 = W rho (1 - rho) = d2L/dF_j^2.
// The paper has a table of the judges' mistakes in the place of y_i - y_j. Numbers are drawn anew in each round.
// Gulin, Kuralenok, Pavlov (2011), "Winning the transfer learning track of Yahoo!'s learning to rank challenge with
// YetiRank", PMLR 14, https://proceedings.mlr.press/v14/gulin11a.html
#include <algorithm>

#include "base/random.h"
#include "objective/query_objective.h"
#include "simd/kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr std::size_t kRankings = 10;

class YetiRank final : public QueryObjective {
 public:
  YetiRank(const LossOptions& options, const LossData& data)
      : QueryObjective(options, data), relevance_(data.target) {}

 private:
  void derive_rows(std::size_t, const QueryRows& rows, std::uint32_t round, std::uint64_t seed,
                   QueryScratch& scratch) const override {
    const std::size_t n = rows.rows.size();
    std::fill_n(scratch.row_gradient.begin(), n, 0.0);
    std::fill_n(scratch.row_hessian.begin(), n, 0.0);
    const auto relevance = [&](std::size_t i) { return relevance_[rows.rows[i]]; };
    const std::vector<double> noise = draw_noise(rows.rows, round, seed, first_row(data().shards));
    for (std::size_t ranking = 0; ranking < kRankings; ++ranking) {
      rank_rows(rows.score, std::span(noise).subspan(ranking * n, n), scratch.ranked);
      for (std::size_t rank = 0; rank + 1 < n; ++rank) {
        std::size_t better = scratch.ranked[rank].number, worse = scratch.ranked[rank + 1].number;
        if (relevance(better) < relevance(worse)) std::swap(better, worse);
        const double difference = relevance(better) - relevance(worse);
        if (difference == 0.0) continue;
        const double weight = difference / (static_cast<double>(rank + 1) * kRankings);
        const double rho = 1.0 / (1.0 + stable_exp(rows.score[better] - rows.score[worse]));
        scratch.row_gradient[better] -= weight * rho;
        scratch.row_gradient[worse] += weight * rho;
        scratch.row_hessian[better] += weight * rho * (1.0 - rho);
        scratch.row_hessian[worse] += weight * rho * (1.0 - rho);
      }
    }
  }

  // log(u / (1 - u)) of every row in ranking 0, in ranking 1, ...; of a row they do not depend on the others.
  // first: row 0 in the table.
  static std::vector<double> draw_noise(std::span<const RowIndex> rows, std::uint32_t round,
                                        std::uint64_t seed, std::uint64_t first) {
    const std::size_t n = rows.size();
    const std::uint64_t root = QuickStream::root(seed, Purpose::ranking_loss, round);
    std::vector<double> noise(kRankings * n), rest(kRankings * n);
    for (std::size_t i = 0; i < n; ++i) {
      QuickStream stream(root, first + rows[i]);
      for (std::size_t place = i; place < noise.size(); place += n) {
        noise[place] = stream.uniform();
        rest[place] = 1.0 - noise[place];
      }
    }
    kernels().math.log(noise.data(), noise.size(), noise.data());
    kernels().math.log(rest.data(), rest.size(), rest.data());
    for (std::size_t place = 0; place < noise.size(); ++place) noise[place] -= rest[place];
    return noise;
  }

  static void rank_rows(std::span<const double> score, std::span<const double> noise,
                        std::vector<RankedRow>& ranked) {
    const std::size_t n = score.size();
    for (std::size_t i = 0; i < n; ++i) {
      ranked[i] = {score[i] + noise[i], static_cast<std::uint32_t>(i)};
    }
    std::sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(n), ranks_before);
  }

  std::span<const double> relevance_;
};

}  // namespace

std::unique_ptr<Objective> make_yetirank(const LossOptions& options, const LossData& data) {
  return std::make_unique<YetiRank>(options, data);
}

}  // namespace arboleda
