// Cox's partial likelihood: worked numbers, a naive twin, finite differences, ties, weights, threads, orders.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/thread_shards.h"
#include "objective/objective.h"

namespace arboleda {

namespace {

struct Times {
  std::vector<double> target;  // negative: censored
  std::vector<double> weight, scores;
  std::vector<RowIndex> rows;

  std::size_t n() const { return target.size(); }
  bool event(std::size_t i) const { return !std::signbit(target[i]); }
  double time(std::size_t i) const { return std::abs(target[i]); }
  double w(std::size_t i) const { return weight.empty() ? 1.0 : weight[i]; }
};

struct Derived {
  std::vector<double> gradient, hessian;
};

Times random_times(std::size_t n, std::uint32_t n_times, bool weighted, double spread = 3.0) {
  RandomStream random(5, Purpose::row_sample, 0, n);
  Times times;
  for (std::size_t i = 0; i < n; ++i) {
    const double time = random.below(n_times);
    times.target.push_back(random.below(3) == 0 ? std::copysign(time, -1.0) : time);
    times.scores.push_back(spread * random.uniform());
    if (weighted) times.weight.push_back(0.5 + 2.0 * random.uniform());
    times.rows.push_back(static_cast<RowIndex>(i));
  }
  return times;
}

Derived derive(const char* loss, const Times& times, int n_threads = 1) {
  const auto objective = make_objective({loss}, times.target, times.weight);
  Derived derived{std::vector<double>(times.n()), std::vector<double>(times.n())};
  objective->prepare(times.scores, times.rows, 0, Context(n_threads, 0));
  objective->gradients(times.scores, 0, times.n(), derived.gradient, derived.hessian);
  return derived;
}

// Event by event and row by row: the loss, and with `derived` its derivatives.
double naive(const Times& t, bool is_efron, Derived* derived) {
  if (derived != nullptr) {
    *derived = {std::vector<double>(t.n()), std::vector<double>(t.n())};
  }
  double loss = 0.0;
  for (std::size_t e = 0; e < t.n(); ++e) {
    if (!t.event(e)) continue;
    double count = 0.0, earlier = 0.0, weight = 0.0;  // of events at the same time
    for (std::size_t i = 0; i < t.n(); ++i) {
      if (!t.event(i) || t.time(i) != t.time(e)) continue;
      count += 1.0;
      earlier += i < e;
      weight += t.w(i);
    }
    const double mean = weight / count, c = is_efron ? earlier / count : 0.0;
    const auto share = [&](std::size_t i) {
      const bool tied = t.event(i) && t.time(i) == t.time(e);
      return t.w(i) * std::exp(t.scores[i]) * (tied ? 1.0 - c : 1.0);
    };
    double total = 0.0;
    for (std::size_t i = 0; i < t.n(); ++i) total += t.time(i) >= t.time(e) ? share(i) : 0.0;
    loss += mean * std::log(total) - t.w(e) * t.scores[e];
    if (derived == nullptr) continue;
    derived->gradient[e] -= t.w(e);
    for (std::size_t i = 0; i < t.n(); ++i) {
      if (t.time(i) < t.time(e)) continue;
      const double q = share(i) / total;
      derived->gradient[i] += mean * q;
      derived->hessian[i] += mean * q * (1.0 - q / t.w(i));
    }
  }
  return loss;
}

}  // namespace

TEST_CASE("two tied events: the numbers of Efron and Breslow by hand") {
  // All scores 0: rows at time 1 (two events), and one censored at time 2.
  Times t{{1.0, 1.0, -2.0}, {}, {0.0, 0.0, 0.0}, {0, 1, 2}};
  const Derived breslow = derive("cox_breslow", t);
  CHECK(breslow.gradient[0] == doctest::Approx(2.0 / 3.0 - 1.0));
  CHECK(breslow.gradient[2] == doctest::Approx(2.0 / 3.0));
  CHECK(breslow.hessian[0] == doctest::Approx(2.0 * (1.0 / 3.0) * (2.0 / 3.0)));
  // The second of them is drawn from 3 - 1/2 * 2 = 2, to which either tied row adds 1/2.
  const Derived efron = derive("cox_efron", t);
  CHECK(efron.gradient[0] == doctest::Approx(1.0 / 3.0 + 0.25 - 1.0));
  CHECK(efron.gradient[2] == doctest::Approx(1.0 / 3.0 + 0.5));
  CHECK(efron.hessian[0] == doctest::Approx(2.0 / 9.0 + 0.25 * 0.75));
  CHECK(efron.hessian[2] == doctest::Approx(2.0 / 9.0 + 0.25));
}

TEST_CASE("derivatives are those of the definition, and slopes of the loss") {
  for (const bool is_efron : {true, false}) {
    for (const bool weighted : {false, true}) {
      for (const std::uint32_t n_times : {1u, 7u, 1000u}) {
        Times t = random_times(60, n_times, weighted);
        const Derived found = derive(is_efron ? "cox_efron" : "cox_breslow", t);
        Derived expected;
        naive(t, is_efron, &expected);
        for (std::size_t i = 0; i < t.n(); ++i) {
          CHECK(found.gradient[i] == doctest::Approx(expected.gradient[i]).epsilon(1e-11));
          CHECK(found.hessian[i] == doctest::Approx(expected.hessian[i]).epsilon(1e-11));
          constexpr double kStep = 1e-5;
          Times up = t, down = t;
          up.scores[i] += kStep;
          down.scores[i] -= kStep;
          const double slope =
              (naive(up, is_efron, nullptr) - naive(down, is_efron, nullptr)) / (2.0 * kStep);
          CHECK(found.gradient[i] == doctest::Approx(slope).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("gradients sum to zero, far scores stay finite, rows before all events have none") {
  Times t = random_times(500, 40, true, 400.0);
  const Derived far = derive("cox_efron", t);
  for (std::size_t i = 0; i < t.n(); ++i) {
    CHECK(std::isfinite(far.gradient[i]));
    CHECK(far.hessian[i] >= 0.0);
  }
  t = random_times(500, 40, true);
  const Derived near = derive("cox_efron", t);
  CHECK(std::accumulate(near.gradient.begin(), near.gradient.end(), 0.0) ==
        doctest::Approx(0.0).epsilon(1e-9));
  const Derived early = derive("cox_efron", {{-1.0, 2.0, 3.0}, {}, {0.3, 0.2, 0.1}, {0, 1, 2}});
  CHECK(early.gradient[0] == 0.0);
  CHECK(early.hessian[0] == 0.0);
}

TEST_CASE("the same bits with any number of threads, and in any order of the rows") {
  const Times t = random_times(20'000, 300, true);
  std::vector<std::size_t> order(t.n());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  std::rotate(order.begin(), order.begin() + 777, order.end());
  Times moved = t;
  for (std::size_t i = 0; i < t.n(); ++i) {
    moved.target[i] = t.target[order[i]];
    moved.weight[i] = t.weight[order[i]];
    moved.scores[i] = t.scores[order[i]];
  }
  for (const char* loss : {"cox_efron", "cox_breslow"}) {
    const Derived one = derive(loss, t), other = derive(loss, moved);
    for (const int n_threads : {2, 3}) {
      const Derived threads = derive(loss, t, n_threads);
      CHECK(threads.gradient == one.gradient);
      CHECK(threads.hessian == one.hessian);
    }
    for (std::size_t i = 0; i < t.n(); ++i) {
      REQUIRE(other.gradient[i] == one.gradient[order[i]]);
      REQUIRE(other.hessian[i] == one.hessian[order[i]]);
    }
  }
}

TEST_CASE("shards have the bits of the whole table, however many rows each has") {
  constexpr std::uint64_t kFirst[] = {0, 0, 5, 400,
                                      2000};  // without rows, a few, and without again
  for (const std::uint32_t n_times : {30u, 100'000u}) {
    for (const bool weighted : {false, true}) {
      const Times t = random_times(2000, n_times, weighted);
      for (const char* loss : {"cox_efron", "cox_breslow"}) {
        const Derived whole = derive(loss, t);
        run_shards(kFirst, [&](const Shards& shards) {
          const std::size_t begin = shards.first_row();
          const std::size_t end = shards.number() < 4 ? kFirst[shards.number() + 1] : t.n();
          const auto part = [&](const std::vector<double>& all) {
            return all.empty() ? std::span<const double>()
                               : std::span(all).subspan(begin, end - begin);
          };
          std::vector<RowIndex> rows(end - begin);
          std::iota(rows.begin(), rows.end(), RowIndex{0});
          const auto objective =
              make_objective({loss}, part(t.target), part(t.weight), {}, &shards);
          std::vector<double> gradient(rows.size()), hessian(rows.size());
          for (int round = 0; round < 2; ++round)
            objective->prepare(part(t.scores), rows, 0, Context());
          objective->gradients(part(t.scores), 0, rows.size(), gradient, hessian);
          CHECK(std::ranges::equal(gradient, part(whole.gradient)));
          CHECK(std::ranges::equal(hessian, part(whole.hessian)));
        });
      }
    }
  }
}

TEST_CASE("rows outside the fit are not at risk, and weights scale derivatives") {
  Times t = random_times(50, 9, false);
  Times half = t;
  half.rows.clear();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < t.n(); i += 2) {
    half.rows.push_back(static_cast<RowIndex>(i));
    kept.push_back(i);
  }
  Times alone;
  for (const std::size_t i : kept) {
    alone.rows.push_back(static_cast<RowIndex>(alone.rows.size()));
    alone.target.push_back(t.target[i]);
    alone.scores.push_back(t.scores[i]);
  }
  const Derived some = derive("cox_efron", half), own = derive("cox_efron", alone);
  for (std::size_t j = 0; j < kept.size(); ++j) CHECK(some.gradient[kept[j]] == own.gradient[j]);
  t.weight.assign(t.n(), 4.0);
  const Derived four = derive("cox_efron", t);
  t.weight.clear();
  const Derived one = derive("cox_efron", t);
  for (std::size_t i = 0; i < t.n(); ++i) CHECK(four.gradient[i] == 4.0 * one.gradient[i]);
  CHECK_THROWS_AS(make_objective({"cox_efron"}, std::vector<double>{INFINITY}, {}), Error);
}

}  // namespace arboleda
