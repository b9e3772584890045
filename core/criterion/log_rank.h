// Log-rank statistics of time to an event that some rows have not had yet (censored rows).
//
// A target is a rank with a sign, as only the order of times counts: +k for an event at the k-th of the
// table's distinct event times, -k for a row that was censored at that time or later, before the next
// one, and -0 before the first.
//
// At the event times j of a node let Y_j be the weight at risk (of rows with rank >= j), d_j that of the
// events, and Y_jL the weight at risk on the left. Ciampi, Thiffault, Nakache, Asselain (1986) and Segal
// (1988) maximise the log-rank statistic of the two sides,
//
//   S^2 / V,  S = sum_j (d_jL - Y_jL d_j / Y_j),  V = sum_j c_j Y_jL (Y_j - Y_jL),
//             c_j = d_j (Y_j - d_j) / (Y_j^2 (Y_j - 1)).
//
// Exchanging the sums, S is a sum over the rows of the left side of their residuals
// r_i = event_i - sum_{j <= k_i} d_j / Y_j. A row of weight w and rank k that moves to the left adds to V
//
//   w (A(k) - w C(k) - 2 sum_{i on the left} w_i C(min(k_i, k))),  A(k) = sum_{j <= k} c_j Y_j,
//                                                                  C(k) = sum_{j <= k} c_j,
//
// where the last sum comes in O(log n) from sums by rank (rank_sums.h). So a column costs O(n log n), and
// the statistic is that of the definition, with no approximation.
//
// log_rank_score instead takes the residuals r_i for scores and divides S^2 by their permutation variance,
// W_L W_R / (W (W - 1)) times their sum of squares: Hothorn and Lausen (2003).
//
// Bits: c_j and d_j / Y_j are integers of 2^-shift, shift = 118 - (bits of the node's weight W). |r| and
// A(k) are below 32 (the logarithm of W), so that all sums stay in 126 bits. c_j is at least
// W^-2, so that weights of up to 34 bits leave it 16 bits or more; of unit weights it is 60 for 10^6 rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/fixed_point.h"
#include "base/log2.h"
#include "base/types.h"
#include "criterion/moments.h"
#include "criterion/rank_sums.h"
#include "data/fixed_weights.h"
#include "data/pair_sorter.h"

namespace arboleda {

inline constexpr int kRiskSetWeightBits = 34;

// The rows of one node, in the order of its row list, and its event times. Arrays by rank have an entry 0
// for rows that left before the first event of the node.
struct RiskSets {
  std::vector<std::uint32_t> rank;     // of each row: event times of the node up to its time
  std::vector<std::uint8_t> is_event;  // of each row
  std::vector<std::int64_t> weight;    // of each row; empty for unit weights
  std::vector<std::uint32_t> time;     // of each rank: its event time among those of the table
  std::vector<std::int64_t> n_events;  // of each rank: d_j,
  std::vector<std::int64_t> at_risk;   // and Y_j
  std::vector<Int128> hazard;          // of each rank: sum_{j <= k} d_j / Y_j,
  std::vector<Int128> c, a;            // and C(k) and A(k), all times 2^shift
  int shift = 0;
  std::vector<std::uint64_t> keys;  // scratch of the ranking
  PairSorter sorter;

  std::size_t n_ranks() const { return time.size(); }
  std::int64_t weight_of(std::size_t i) const { return weight.empty() ? 1 : weight[i]; }
  Int128 residual(std::size_t i) const { return (Int128{is_event[i]} << shift) - hazard[rank[i]]; }
};

enum class LogRankStatistic : std::uint8_t { log_rank, log_rank_score };

class LogRankSides {
 public:
  using Slot = Moments<Int128>;

  explicit LogRankSides(LogRankStatistic statistic) : statistic_(statistic) {}

  void reset(const Slot* total, std::uint64_t) {
    total_ = *total;
    left_ = {};
    variance_ = 0;
    weight_at_risk_ = 0;
  }

  void move_row(const RiskSets& node, std::size_t i) {
    const std::int64_t w = node.weight_of(i);
    if (statistic_ == LogRankStatistic::log_rank) add_variance(node, node.rank[i], w);
    left_.add(node.residual(i) * Int128{w}, w, 1);
    shift_ = node.shift;
  }

  double score() const {
    const double s = std::ldexp(static_cast<double>(left_.sum), -shift_);
    if (statistic_ == LogRankStatistic::log_rank_score) {
      return s / weight_left() * (s / weight_right());
    }
    return variance_ > 0 ? s / std::ldexp(static_cast<double>(variance_), -shift_) * s : 0.0;
  }
  double tie_break() const { return 0.0; }

  std::uint64_t n_left() const { return static_cast<std::uint64_t>(left_.n_rows); }
  std::uint64_t n_right() const { return static_cast<std::uint64_t>(total_.n_rows - left_.n_rows); }
  double weight_left() const { return static_cast<double>(left_.weight); }
  double weight_right() const { return static_cast<double>(total_.weight - left_.weight); }

 private:
  void add_variance(const RiskSets& node, std::size_t rank, std::int64_t w) {
    if (left_.n_rows == 0) ranks_.reset(node.n_ranks());
    if (rank == 0) return;  // at risk at no event
    WeightAndSum<Int128> up_to;
    for (std::size_t k = rank; k > 0; k &= k - 1) up_to += ranks_.node(k);
    const Int128 own = node.c[rank] * Int128{w};
    const Int128 others = up_to.sum + node.c[rank] * Int128{weight_at_risk_ - up_to.weight};
    variance_ += Int128{w} * (node.a[rank] - own - 2 * others);
    ranks_.add(rank - 1, {own, w}, node.n_ranks());
    weight_at_risk_ += w;
  }

  LogRankStatistic statistic_;
  Slot total_, left_;
  Int128 variance_ = 0;
  std::int64_t weight_at_risk_ = 0;  // of the left side, at the first event
  RankSums<Int128> ranks_;           // of the left side: w C(k) and w by rank k, from 1
  int shift_ = 0;
};

class LogRank {
 public:
  using Slot = Moments<Int128>;
  using Sides = LogRankSides;
  using Local = RiskSets;
  static constexpr bool kHasCells = false;
  static constexpr bool kSumsBinaryFeatures = false;

  // targets: signed ranks; they and the weights must outlive the criterion.
  LogRank(std::span<const double> targets, const FixedWeights& weights, LogRankStatistic statistic)
      : targets_(targets), weights_(weights), statistic_(statistic) {
    for (const double target : targets) n_times_ = std::max(n_times_, std::abs(target));
  }

  std::size_t width() const { return 1; }
  std::size_t n_outputs() const { return 1; }
  Sides make_sides() const { return Sides(statistic_); }

  void gather(std::span<const RowIndex> rows, Local& local) const {
    local.keys.resize(rows.size());
    local.is_event.resize(rows.size());
    local.weight.resize(weights_.is_unit() ? 0 : rows.size());
    std::int64_t remaining = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double target = targets_[rows[i]];
      local.keys[i] = std::uint64_t{static_cast<std::uint32_t>(std::abs(target))} << 32 | i;
      local.is_event[i] = target > 0.0;
      if (!local.weight.empty()) {
        local.weight[i] = static_cast<std::int64_t>(weights_.value[rows[i]]);
      }
      remaining += local.weight_of(i);
    }
    local.sorter.sort(local.keys);
    start(remaining, local);
    for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
      std::int64_t leaving = 0, events = 0;
      for (; last < rows.size() && local.keys[last] >> 32 == local.keys[first] >> 32; ++last) {
        const auto i = static_cast<std::uint32_t>(local.keys[last]);
        leaving += local.weight_of(i);
        if (local.is_event[i] != 0) events += local.weight_of(i);
      }
      if (events > 0) {
        add_time(static_cast<std::uint32_t>(local.keys[first] >> 32), events, remaining, local);
      }
      for (std::size_t k = first; k < last; ++k) {
        local.rank[static_cast<std::uint32_t>(local.keys[k])] =
            static_cast<std::uint32_t>(local.n_ranks() - 1);
      }
      remaining -= leaving;
    }
  }

  void add(const Local& local, std::size_t i, Slot* cell) const {
    const std::int64_t w = local.weight_of(i);
    cell->add(local.residual(i) * Int128{w}, w, 1);
  }

  void sum(const Local& local, Slot* cell) const {
    *cell = {};
    for (std::size_t i = 0; i < local.rank.size(); ++i) add(local, i, cell);
  }

  void move_row(const Local& local, std::size_t i, Sides& sides) const { sides.move_row(local, i); }

  // Categories are tried in the order of their mean residuals: a heuristic, as V is not a function of them.
  void category_orders(const Slot*, std::vector<std::uint32_t>& orders) const {
    orders.assign(1, 0);
  }
  double category_key(const Slot* cell, std::uint32_t) const { return cell->mean(); }

  bool is_ordered() const { return false; }

  double weight(const Slot* total) const { return static_cast<double>(total->weight); }
  double total_weight() const { return static_cast<double>(weights_.total); }
  double weight_unit() const { return weights_.unit; }

  // No split of the rows has a variance: at every event time all rows at risk have the event.
  bool is_pure(const Local& local, const Slot*) const { return local.c.back() == 0; }

  // -sum_j d_j log(d_j / Y_j) / W: the mean negative log-likelihood of the Nelson-Aalen hazards, but for the
  // number of events. It never rises by a split, as each side may keep the hazards of both.
  int impurity_exponent() const { return 0; }
  double impurity(const Local& local, const Slot* total) const {
    constexpr double kLn2 = 0.69314718055994530942;
    double sum = 0.0;
    for (std::size_t j = 1; j < local.n_ranks(); ++j) {
      const auto events = static_cast<double>(local.n_events[j]);
      sum -= events * stable_log2(events / static_cast<double>(local.at_risk[j]));
    }
    return std::max(0.0, sum * kLn2 / weight(total));
  }

  // Mortality: the sum of the node's Nelson-Aalen estimate over the event times of the table, the number of
  // events to expect of as many rows like these. Ishwaran, Kogalur, Blackstone, Lauer (2008), section 3.
  void value(std::span<const RowIndex>, const Local& local, const Slot*, double* out) const {
    *out = 0.0;
    for (std::size_t j = 1; j < local.n_ranks(); ++j) {
      *out += static_cast<double>(local.n_events[j]) / static_cast<double>(local.at_risk[j]) *
              (n_times_ + 1.0 - local.time[j]);
    }
  }

 private:
  // Rank 0, of a node of that weight.
  static void start(std::int64_t weight, Local& local) {
    local.shift = 118 - bit_length(static_cast<std::uint64_t>(weight));
    local.rank.resize(local.keys.size());
    local.time.assign(1, 0);
    local.n_events.assign(1, 0);
    local.at_risk.assign(1, 0);
    local.hazard.assign(1, 0);
    local.c.assign(1, 0);
    local.a.assign(1, 0);
  }

  void add_time(std::uint32_t time, std::int64_t events, std::int64_t at_risk, Local& local) const {
    const auto d = static_cast<double>(events);
    const auto y = static_cast<double>(at_risk);
    const Int128 c = fixed(d / y / y * tie_factor(d, y), local);
    local.time.push_back(time);
    local.n_events.push_back(events);
    local.at_risk.push_back(at_risk);
    local.hazard.push_back(local.hazard.back() + fixed(d / y, local));
    local.c.push_back(local.c.back() + c);
    local.a.push_back(local.a.back() + c * Int128{at_risk});
  }

  static Int128 fixed(double value, const Local& local) {
    return static_cast<Int128>(std::ldexp(value, local.shift));
  }

  // (Y - d) / (Y - 1), where 1 is a row of weight 1. Weights that sum to less have no such row.
  double tie_factor(double d, double y) const {
    const double one = 1.0 / weights_.unit;
    return y > one ? std::min(1.0, (y - d) / (y - one)) : static_cast<double>(y > d);
  }

  std::span<const double> targets_;
  const FixedWeights& weights_;
  LogRankStatistic statistic_;
  double n_times_ = 0.0;  // event times of the table
};

}  // namespace arboleda
