// Cox's negative log partial likelihood of times to an event, of which rows may be censored.
//
// With theta_i = w_i exp F_i, let S_k be the sum of theta over the rows at risk at the k-th event time (those
// whose time is not earlier), T_k that over the d_k rows with the event then, and m_k their mean weight:
//
//   L = -sum over events of w_i F_i + sum_k m_k sum_(l = 0)^(d_k - 1) log (S_k - c_l T_k)
//
// Efron: c_l = l / d_k; Breslow: c_l = 0. With q = theta_i (1 - c_l [i has the event at k]) / (S_k - c_l T_k), the
// sums being over all (k, l) at which row i is at risk,
//
//   dL/dF_i = sum m_k q - w_i [i has the event],   sum m_k q (1 - q / w_i).
//
// The latter is the second derivative of w_i rows of weight 1 together, if each has the score to itself: of the Hessian
// matrix only the diagonal is used, Ridgeway (1999), "The state of boosting". Cox (1972), "Regression
// models and life-tables", JRSS B 34; Breslow (1974), Biometrics 30; Efron (1977), "The efficiency of Cox's
// likelihood function for censored data", JASA 72, https://doi.org/10.1080/01621459.1977.10480613
//
// A target is the time, negative (-0 too) where it is of censoring. Rows are sorted once; a round is a pass from the
// last time to the first for S_k and T_k, whole numbers of 128 bits that do not depend on the order of rows, one forth
// for sums over event times, and one over the rows of the table, which look up these sums. Shards of a table have the
// event times of all rows, add up what is summed of theta between one and the next, and do the rest alike.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/exact_sum.h"
#include "base/key_search.h"
#include "base/shards.h"
#include "base/thread_pool.h"
#include "objective/prepared_objective.h"
#include "objective/row_objective.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// theta relative to the largest one is counted in units of 2^-94: sums of 2^32 rows stay in 127 bits.
constexpr int kUnitBits = 94;
// Scores this far below the largest one count as if they were so far.
constexpr double kLargestCoxSpread = 60.0;
// Rows of one task.
constexpr std::size_t kCoxBlockRows = std::size_t{1} << 12;

bool is_event(double target) { return !std::signbit(target); }

// Of 0 <= theta <= 1, at least one unit: its 53 digits, moved to their place.
Int128 units_of_theta(double theta) {
  const auto bits = std::bit_cast<std::uint64_t>(theta);
  const int place = static_cast<int>(bits >> 52) - (1023 + 52) + kUnitBits;
  const auto digits =
      static_cast<std::int64_t>((bits & ((std::uint64_t{1} << 52) - 1)) | (std::uint64_t{1} << 52));
  if (place >= 0) return Int128{digits} << place;
  return std::max(std::int64_t{1}, place > -53 ? digits >> -place : 0);
}

double theta_of_units(Int128 units) {
  const auto high = static_cast<std::int64_t>(units >> 64);
  const auto low = static_cast<std::int64_t>(static_cast<std::uint64_t>(units) >> 1);
  return static_cast<double>(high) * 0x1p-30 + static_cast<double>(low) * 0x1p-93;
}

class Cox final : public PreparedObjective {
 public:
  Cox(bool is_efron, const LossData& data)
      : PreparedObjective(data), is_efron_(is_efron), theta_(n_rows()) {
    check_targets(data.target, "a loss of times to an event needs finite times",
                  [](double y) { return std::isfinite(y); });
  }

  void gradients(std::span<const double> scores, std::size_t begin, std::size_t end,
                 std::span<double> gradient, std::span<double> hessian) const override;

 private:
  // Rows with the event at a time, then rows censored then or later, before the next event time. n_own_events: of
  // this shard.
  struct EventTime {
    std::uint32_t begin, n_own_events, n_events;
  };
  // Sums of theta in units, over the rows with the event at a time, and with those censored before the next.
  struct ThetaSums {
    Int128 of_events, all;
  };
  // Sums over event times of m_k / (S_k - c_l T_k) and of its square. Times theta, they are sums of q and of q^2.
  struct TermSums {
    double terms, squares;
  };

  void group(std::span<const RowIndex> rows) override;
  void find_times();
  void weigh_times();
  void place_rows(std::size_t k);
  void derive(std::span<const double> scores, std::uint32_t round, const Context& context) override;
  void set_thetas(std::span<const double> scores, const Context& context);
  double largest_score(std::span<const double> scores) const;
  ThetaSums own_sums(std::size_t k) const;
  std::vector<ExactSum> share_sums() const;
  void add_terms(std::size_t k, double all, double of_events);
  void sum_terms();

  std::size_t end_of(std::size_t k) const {
    return k + 1 < times_.size() ? times_[k + 1].begin : sorted_.size();
  }

  std::size_t first_censored(std::size_t k) const {
    return std::size_t{times_[k].begin} + times_[k].n_own_events;
  }
  std::span<const RowIndex> events_at(std::size_t k) const {
    return std::span(sorted_).subspan(times_[k].begin, times_[k].n_own_events);
  }
  bool has_ties(std::size_t k) const { return is_efron_ && times_[k].n_events > 1; }

  bool is_efron_, has_weights_ = false;
  //   sorted_  rows without a role | time 0: events, censored | time 1: events, censored | ...
  //   sums_    zeros, zeros        | of censored, of events   | of censored, of events   | ...
  std::vector<RowIndex> sorted_;
  std::vector<EventTime> times_;     // of all shards
  std::vector<double> mean_weight_;  // of the events at each time; empty for "all 1"
  std::vector<TermSums> sums_;
  std::vector<std::uint32_t> place_;  // of each row of the table, in sums_
  double largest_weight_ = 1.0;
  std::vector<double> theta_;  // of each row of the table, relative to the largest weight and score
  std::vector<double> sorted_theta_;
};

void Cox::group(std::span<const RowIndex> rows) {
  const auto target = data().target;
  const Shards* const shards = data().shards;
  require(sum_of_all(shards, rows.size()) < (std::uint64_t{1} << 31),
          "a loss of times to an event has less than 2^31 rows");
  sorted_.assign(rows.begin(), rows.end());
  std::sort(sorted_.begin(), sorted_.end(), [&](RowIndex a, RowIndex b) {
    const double s = std::abs(target[a]), t = std::abs(target[b]);
    if (s != t) return s < t;
    if (is_event(target[a]) != is_event(target[b])) return is_event(target[a]);
    return a < b;
  });
  find_times();
  has_weights_ = is_any(shards, !data().weight.empty());
  if (has_weights_) weigh_times();
  sorted_theta_.resize(sorted_.size());
  sums_.assign(2 * times_.size() + 2, {0.0, 0.0});
  place_.assign(n_rows(), 0);
  for (std::size_t k = 0; k < times_.size(); ++k) place_rows(k);
}

void Cox::find_times() {
  const auto target = data().target;
  std::vector<std::uint64_t> times;  // as bits, which order as these numbers do
  for (const RowIndex row : sorted_) {
    const auto time = std::bit_cast<std::uint64_t>(target[row]);
    if (is_event(target[row]) && (times.empty() || times.back() != time)) times.push_back(time);
  }
  times = join_all(data().shards, std::move(times));
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  times_.clear();
  std::vector<std::uint64_t> n_events;
  std::size_t i = 0;
  for (const std::uint64_t bits : times) {
    const auto time = std::bit_cast<double>(bits);
    while (i < sorted_.size() && std::abs(target[sorted_[i]]) < time) ++i;
    const std::size_t begin = i;
    while (i < sorted_.size() && target[sorted_[i]] == time && is_event(target[sorted_[i]])) ++i;
    n_events.push_back(i - begin);
    times_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(i - begin), 0});
  }
  add_all(data().shards, std::span(n_events));
  for (std::size_t k = 0; k < times_.size(); ++k) {
    times_[k].n_events = static_cast<std::uint32_t>(n_events[k]);
  }
}

void Cox::weigh_times() {
  Magnitude largest_weight;
  for (const RowIndex row : rows()) largest_weight.see(weight_of(row));
  std::vector<Magnitude> largest(times_.size());
  std::vector<ExactSum> sums(times_.size());
  for (std::size_t k = 0; k < times_.size(); ++k) {
    for (const RowIndex row : events_at(k)) largest[k].see(weight_of(row));
  }
  largest.push_back(largest_weight);
  see_all(data().shards, largest);
  largest_weight_ = largest.back().value();
  for (std::size_t k = 0; k < times_.size(); ++k) {
    const SumScale scale(largest[k]);
    for (const RowIndex row : events_at(k)) sums[k].add(scale, weight_of(row));
  }
  add_all(data().shards, std::span(sums));
  mean_weight_.clear();
  for (std::size_t k = 0; k < times_.size(); ++k) {
    mean_weight_.push_back(sums[k].to_real(SumScale(largest[k])) /
                           static_cast<double>(times_[k].n_events));
  }
}

void Cox::place_rows(std::size_t k) {
  const auto place = static_cast<std::uint32_t>(2 * k + 2);
  for (std::size_t i = times_[k].begin; i < end_of(k); ++i) {
    place_[sorted_[i]] = place + (i < first_censored(k));
  }
}

double Cox::largest_score(std::span<const double> scores) const {
  double largest = -std::numeric_limits<double>::infinity();
  for (const RowIndex row : rows()) largest = std::max(largest, scores[row]);
  if (data().shards == nullptr) return largest;
  std::uint64_t key = search_key(largest);
  data().shards->maximum(std::span(&key, 1));
  return number_of(key);
}

void Cox::set_thetas(std::span<const double> scores, const Context& context) {
  const double largest = largest_score(scores);
  parallel_blocks(context.n_threads(), n_rows(), kCoxBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    std::array<double, kCoxBlockRows> score;
                    for (std::size_t i = begin; i < end; ++i) {
                      score[i - begin] = std::clamp(scores[i] - largest, -kLargestCoxSpread, 0.0);
                    }
                    kernels().math.exp(score.data(), end - begin, &theta_[begin]);
                    if (!has_weights_) return;
                    for (std::size_t i = begin; i < end; ++i) {
                      theta_[i] *= weight_of(static_cast<RowIndex>(i)) / largest_weight_;
                    }
                  });
  // Apart from the sums, whose short loops would wait for each of these.
  parallel_blocks(context.n_threads(), sorted_.size(), kCoxBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      sorted_theta_[i] = theta_[sorted_[i]];
                    }
                  });
}

void Cox::add_terms(std::size_t k, double all, double of_events) {
  const TermSums before = sums_[2 * k];
  TermSums at_risk = before, event = before;
  const std::size_t n_events = times_[k].n_events;
  const double weight = mean_weight_.empty() ? 1.0 : mean_weight_[k];
  const double step = has_ties(k) ? 1.0 / static_cast<double>(n_events) : 0.0;
  for (std::size_t l = 0; l < n_events; ++l) {
    const double share = static_cast<double>(l) * step, rest = 1.0 - share;
    const double term = 1.0 / (all - share * of_events);
    at_risk.terms += weight * term;
    at_risk.squares += weight * term * term;
    event.terms += weight * rest * term;
    event.squares += weight * (rest * term) * (rest * term);
  }
  sums_[2 * k + 2] = at_risk;
  sums_[2 * k + 3] = event;
}

Cox::ThetaSums Cox::own_sums(std::size_t k) const {
  Int128 of_events = 0, of_censored = 0;
  for (std::size_t i = times_[k].begin; i < first_censored(k); ++i) {
    of_events += units_of_theta(sorted_theta_[i]);
  }
  for (std::size_t i = first_censored(k); i < end_of(k); ++i) {
    of_censored += units_of_theta(sorted_theta_[i]);
  }
  return {of_events, of_events + of_censored};
}

// Those of all shards, from the last time to the first: of all rows, and before it of events where they are tied.
std::vector<ExactSum> Cox::share_sums() const {
  std::vector<ExactSum> sums;
  for (std::size_t k = times_.size(); k-- > 0;) {
    const ThetaSums own = own_sums(k);
    if (has_ties(k)) sums.emplace_back(own.of_events);
    sums.emplace_back(own.all);
  }
  add_all(data().shards, std::span(sums));
  return sums;
}

void Cox::sum_terms() {
  Int128 all = 0;
  const auto add_time = [&](std::size_t k, const ThetaSums& sums) {
    all += sums.all;
    sums_[2 * k + 2] = {theta_of_units(all), theta_of_units(sums.of_events)};
  };
  if (data().shards == nullptr) {
    for (std::size_t k = times_.size(); k-- > 0;) add_time(k, own_sums(k));
  } else {
    const std::vector<ExactSum> shared = share_sums();
    auto next = shared.begin();
    for (std::size_t k = times_.size(); k-- > 0;) {
      const Int128 of_events = has_ties(k) ? (next++)->units() : 0;
      add_time(k, {of_events, (next++)->units()});
    }
  }
  for (std::size_t k = 0; k < times_.size(); ++k) {
    const TermSums totals = sums_[2 * k + 2];
    add_terms(k, totals.terms, totals.squares);
  }
}

void Cox::derive(std::span<const double> scores, std::uint32_t, const Context& context) {
  set_thetas(scores, context);
  sum_terms();
}

void Cox::gradients(std::span<const double>, std::size_t begin, std::size_t end,
                    std::span<double> gradient, std::span<double> hessian) const {
  const auto weight = data().weight;
  for (std::size_t i = begin; i < end; ++i) {
    const TermSums& sums = sums_[place_[i]];
    const double w = weight.empty() ? 1.0 : weight[i];
    const double q = theta_[i] * sums.terms;
    double squares = theta_[i] * theta_[i] * sums.squares;
    if (!weight.empty() && w > 0.0) squares /= w;
    const bool has_event = (place_[i] & 1) != 0;
    gradient[i] = has_event ? q - w : q;
    hessian[i] = std::max(q - squares, 0.0);
  }
}

}  // namespace

std::unique_ptr<Objective> make_cox_efron(const LossOptions&, const LossData& data) {
  return std::make_unique<Cox>(true, data);
}

std::unique_ptr<Objective> make_cox_breslow(const LossOptions&, const LossData& data) {
  return std::make_unique<Cox>(false, data);
}

}  // namespace arboleda
