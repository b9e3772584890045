#include "objective/query_objective.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/thread_pool.h"
#include "objective/row_objective.h"
#include "simd/ranking_kernels.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// Rows of one task: queries are given to threads in groups.
constexpr std::size_t kQueryBlockRows = std::size_t{1} << 12;
constexpr double kLargestRelevance = 31.0;  // of gains 2^y - 1

}  // namespace

QueryObjective::QueryObjective(const LossOptions& options, const LossData& data)
    : PreparedObjective(data), row_gain_(data.target.size()) {
  require(data.query.size() == data.target.size(),
          "a loss of rankings needs the query of every row");
  const auto& gains = options.label_gain;
  const double last = gains.empty() ? kLargestRelevance : static_cast<double>(gains.size()) - 1.0;
  check_targets(data.target, "losses of rankings need relevance 0, 1, .. that has a gain",
                [last](double y) { return y >= 0.0 && y <= last && y == std::floor(y); });
  for (std::size_t i = 0; i < data.target.size(); ++i) {
    const auto y = static_cast<int>(data.target[i]);
    row_gain_[i] = gains.empty() ? std::ldexp(1.0, y) - 1.0 : gains[static_cast<std::size_t>(y)];
  }
}

// Counts rows, then places them: queries in the order of their numbers, rows of a query in their own.
void QueryObjective::group(std::span<const RowIndex> rows) {
  const std::span<const std::uint32_t> query = data().query;
  std::uint32_t last = 0;
  for (const RowIndex row : rows) last = std::max(last, query[row]);
  std::vector<std::size_t> next(std::size_t{last} + 2);
  for (const RowIndex row : rows) ++next[query[row] + 1];
  first_ = {0};
  largest_ = 0;
  for (std::size_t q = 0; q + 1 < next.size(); ++q) {
    const std::size_t size = next[q + 1];
    next[q + 1] += next[q];
    if (size > 0) first_.push_back(next[q + 1]);
    largest_ = std::max(largest_, size);
  }
  grouped_.resize(rows.size());
  gain_.resize(rows.size());
  for (const RowIndex row : rows) {
    const std::size_t place = next[query[row]]++;
    grouped_[place] = row;
    gain_[place] = row_gain_[row];
  }
  discount_.resize(largest_ + kRankingPadding);
  for (std::size_t rank = 0; rank < discount_.size(); ++rank) {
    discount_[rank] = stable_log(2.0) / stable_log(2.0 + static_cast<double>(rank));
  }
  gradient_.assign(n_rows(), 0.0);
  hessian_.assign(n_rows(), 0.0);
  describe_queries();
}

void QueryObjective::derive(std::span<const double> scores, std::uint32_t round,
                            const Context& context) {
  std::vector<std::size_t> blocks = {0};  // queries that tasks begin with
  for (std::size_t q = 1; q < n_queries(); ++q) {
    if (first_[q] - first_[blocks.back()] >= kQueryBlockRows) blocks.push_back(q);
  }
  blocks.push_back(n_queries());
  std::vector<QueryScratch> scratch(static_cast<std::size_t>(context.n_threads()));
  parallel_for(context.n_threads(), blocks.size() - 1, [&](std::size_t block, int worker) {
    for (std::size_t q = blocks[block]; q < blocks[block + 1]; ++q) {
      context.check();
      derive_query(q, scores, round, context.seed(), scratch[static_cast<std::size_t>(worker)]);
    }
  });
}

void QueryObjective::derive_query(std::size_t query, std::span<const double> scores,
                                  std::uint32_t round, std::uint64_t seed, QueryScratch& scratch) {
  for (auto* part :
       {&scratch.row_score, &scratch.row_gradient, &scratch.row_hessian, &scratch.score,
        &scratch.strength, &scratch.gain, &scratch.gradient, &scratch.hessian}) {
    part->resize(largest_ + kRankingPadding);
  }
  scratch.ranked.resize(largest_);
  const auto rows = std::span(grouped_).subspan(first_[query], first_[query + 1] - first_[query]);
  const std::span<double> score = std::span(scratch.row_score).first(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) score[i] = scores[rows[i]];
  derive_rows(query, {first_[query], rows, score, gains_of(query)}, round, seed, scratch);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double weight = weight_of(rows[i]);
    gradient_[rows[i]] = weight * scratch.row_gradient[i];
    hessian_[rows[i]] = weight * scratch.row_hessian[i];
  }
}

void QueryObjective::gradients(std::span<const double>, std::size_t begin, std::size_t end,
                               std::span<double> gradient, std::span<double> hessian) const {
  for (std::size_t row = begin; row < end; ++row) {
    gradient[row] = gradient_[row];
    hessian[row] = hessian_[row];
  }
}

}  // namespace arboleda
