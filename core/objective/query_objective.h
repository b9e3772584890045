// The base of losses of rankings: rows belong to queries, and a loss compares the rows of one query.
//
// Life of an object:
//   1. it is made: relevance and gains are checked
//   2. prepare()  every round: rows are grouped by query, once; each query is then one task of derive_rows(), so
//      that derivatives do not depend on the number of threads
//   3. gradients()  returns what was found
//
// The weight of a row multiplies its derivatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "objective/losses.h"
#include "objective/prepared_objective.h"

namespace arboleda {

// The rows of a query, in their order in the table, from place `begin` on in the grouped rows.
struct QueryRows {
  std::size_t begin;
  std::span<const RowIndex> rows;
  std::span<const double> score, gain;
};

struct RankedRow {
  double score;
  std::uint32_t number;  // among the rows of its query
};

// By descending score; rows of equal scores in their order in the table.
inline bool ranks_before(const RankedRow& a, const RankedRow& b) {
  return a.score > b.score || (a.score == b.score && a.number < b.number);
}

// Arrays of one thread, with kRankingPadding places beyond the rows of the largest query.
struct QueryScratch {
  std::vector<double> row_score, row_gradient, row_hessian;      // in the order of the rows
  std::vector<double> score, strength, gain, gradient, hessian;  // in the order of the scores
  std::vector<RankedRow> ranked;
};

class QueryObjective : public PreparedObjective {
 public:
  void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                 std::span<double> gradient, std::span<double> hessian) const final;

 protected:
  // Throws Error(invalid_argument) for a relevance that is no whole number from 0 on, or that has no gain.
  QueryObjective(const LossOptions& options, const LossData& data);

  // Called when rows were grouped anew.
  virtual void describe_queries() {}

  // Sets row_gradient and row_hessian of the scratch.
  virtual void derive_rows(std::size_t query, const QueryRows& rows, std::uint32_t round,
                           std::uint64_t seed, QueryScratch& scratch) const = 0;

  std::size_t n_queries() const { return first_.size() - 1; }
  std::span<const double> gains_of(std::size_t query) const {
    return std::span(gain_).subspan(first_[query], first_[query + 1] - first_[query]);
  }
  std::span<const double> discounts() const { return discount_; }  // by rank, from 0 on

 private:
  void group(std::span<const RowIndex> rows) final;
  void derive(std::span<const double> scores, std::uint32_t round, const Context& context) final;
  void derive_query(std::size_t query, std::span<const double> scores, std::uint32_t round,
                    std::uint64_t seed, QueryScratch& scratch);

  std::vector<double> row_gain_;  // of each row of the table
  //   grouped_  rows of query 0 | rows of query 1 | ...     gain_: theirs
  //   first_    0               | begin of query 1 | ... | number of rows
  std::vector<RowIndex> grouped_;
  std::vector<double> gain_;
  std::vector<std::size_t> first_ = {0};
  std::vector<double> discount_;
  std::size_t largest_ = 0;  // rows of the largest query
  std::vector<double> gradient_, hessian_;
};

}  // namespace arboleda
