#include "criterion/log_rank.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace arboleda {

namespace {

struct Times {
  std::vector<double> target, weight;  // signed ranks

  double rank(std::size_t i) const { return std::abs(target[i]); }
};

// S^2 / V of rows [0, middle) against the others, in the order of the textbook.
double log_rank(const Times& rows, std::size_t middle) {
  double s = 0, v = 0;
  for (int j = 1; j <= 30; ++j) {
    double at_risk = 0, left = 0, events = 0, events_left = 0;
    for (std::size_t i = 0; i < rows.target.size(); ++i) {
      const double w = rows.weight[i];
      if (rows.rank(i) >= j) (i < middle ? left : at_risk) += w;
      if (rows.target[i] == j) (i < middle ? events_left : events) += w;
    }
    at_risk += left;
    events += events_left;
    if (events == 0) continue;
    s += events_left - left * events / at_risk;
    if (at_risk > 1) {
      v += events * (at_risk - events) / (at_risk - 1) * (left / at_risk) * (1 - left / at_risk);
    }
  }
  return v > 0 ? s * s / v : 0;
}

// The same of log-rank scores, times a factor of the node.
double log_rank_score(const Times& rows, std::size_t middle) {
  double s = 0, left = 0, whole = 0;
  for (std::size_t i = 0; i < rows.target.size(); ++i) {
    whole += rows.weight[i];
    if (i >= middle) continue;
    double residual = rows.target[i] > 0;
    for (int j = 1; j <= rows.rank(i); ++j) {
      double at_risk = 0, events = 0;
      for (std::size_t k = 0; k < rows.target.size(); ++k) {
        if (rows.rank(k) >= j) at_risk += rows.weight[k];
        if (rows.target[k] == j) events += rows.weight[k];
      }
      residual -= events / at_risk;
    }
    s += rows.weight[i] * residual;
    left += rows.weight[i];
  }
  return s * s / (left * (whole - left));
}

Times draw(RandomStream& random, std::size_t n, std::uint32_t n_times, bool weighted) {
  Times rows;
  for (std::size_t i = 0; i < n; ++i) {
    const double rank = random.below(n_times);
    const bool event = rank > 0 && random.below(3) > 0;
    rows.target.push_back(event ? rank : -rank);
    rows.weight.push_back(weighted ? 1.0 + random.below(4) : 1.0);
  }
  rows.target[0] = 1;
  rows.target[1] = -2;
  return rows;
}

void check_scores(const Times& rows, LogRankStatistic statistic) {
  const std::size_t n = rows.target.size();
  const FixedWeights weights = fix_weights(rows.weight, n, kRiskSetWeightBits);
  const LogRank criterion(rows.target, weights, statistic);
  std::vector<RowIndex> all(n);
  std::iota(all.begin(), all.end(), 0u);
  RiskSets local;
  criterion.gather(all, local);
  Moments<Int128> total;
  criterion.sum(local, &total);
  auto sides = criterion.make_sides();
  for (int again = 0; again < 2; ++again) {  // the scratch of one scan serves the next
    sides.reset(&total, n);
    for (std::size_t i = 0; i + 1 < n; ++i) {
      criterion.move_row(local, i, sides);
      const double naive = statistic == LogRankStatistic::log_rank ? log_rank(rows, i + 1)
                                                                   : log_rank_score(rows, i + 1);
      const double unit = statistic == LogRankStatistic::log_rank ? weights.unit : 1.0;
      CHECK(sides.score() * unit == doctest::Approx(naive).epsilon(1e-9));
      CHECK(sides.n_left() == i + 1);
      CHECK(sides.n_left() + sides.n_right() == n);
    }
  }
}

}  // namespace

TEST_CASE("log-rank statistics follow the definition, with ties and whole weights") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    RandomStream random(seed, Purpose::feature_subset, 0, 0);
    for (const std::size_t n : {2u, 3u, 8u, 40u, 100u}) {
      for (const bool weighted : {false, true}) {
        const Times rows = draw(random, n, seed == 1 ? 4 : 30, weighted);
        check_scores(rows, LogRankStatistic::log_rank);
        check_scores(rows, LogRankStatistic::log_rank_score);
      }
    }
  }
}

TEST_CASE("a leaf's value and impurity follow the Nelson-Aalen estimate") {
  // Events at times 1 and 3 of 4, a row censored at time 2: hazards 1/3 and 1.
  const std::vector<double> targets = {1, -2, 3, 4};
  const FixedWeights weights = fix_weights({}, 4, kRiskSetWeightBits);
  const LogRank criterion(targets, weights, LogRankStatistic::log_rank);
  RiskSets local;
  criterion.gather(std::vector<RowIndex>{0, 1, 2}, local);
  Moments<Int128> total;
  criterion.sum(local, &total);
  double value = 0;
  criterion.value({}, local, &total, &value);
  CHECK(value == doctest::Approx(4 * (1.0 / 3) + 2 * 1.0));
  CHECK(criterion.impurity(local, &total) == doctest::Approx(std::log(3.0) / 3));
  CHECK_FALSE(criterion.is_pure(local, &total));
  criterion.gather(std::vector<RowIndex>{1, 2}, local);
  CHECK(criterion.is_pure(local, &total));  // the only event is that of the last row at risk
  criterion.gather(std::vector<RowIndex>{1}, local);
  CHECK(criterion.is_pure(local, &total));
}

}  // namespace arboleda
