// Losses of rankings: worked numbers, naive twins, finite differences, threads, order of queries.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "objective/objective.h"

namespace arboleda {

namespace {

struct Ranking {
  std::vector<double> relevance, weight, scores;
  std::vector<std::uint32_t> query;
  std::vector<RowIndex> rows;
};

struct Derived {
  std::vector<double> gradient, hessian;
};

Ranking random_ranking(std::size_t n, std::uint32_t n_queries, double spread) {
  RandomStream random(7, Purpose::row_sample, 0, n);
  Ranking ranking;
  for (std::size_t i = 0; i < n; ++i) {
    ranking.relevance.push_back(random.below(4));
    ranking.query.push_back(random.below(n_queries));
    ranking.scores.push_back(spread * random.uniform());
    if (i % 7 == 6) ranking.scores.back() = ranking.scores[i - 1];  // ties
    ranking.rows.push_back(static_cast<RowIndex>(i));
  }
  return ranking;
}

Derived derive(const LossOptions& options, const Ranking& ranking, int n_threads = 1,
               std::uint32_t round = 0) {
  const auto objective = make_objective(options, ranking.relevance, ranking.weight, ranking.query);
  const std::size_t n = ranking.relevance.size();
  Derived derived{std::vector<double>(n), std::vector<double>(n)};
  objective->prepare(ranking.scores, ranking.rows, round, Context(n_threads, 3));
  objective->gradients(ranking.scores, 0, n, derived.gradient, derived.hessian);
  return derived;
}

LossOptions options_of(const char* name, std::size_t truncation_level = 30) {
  LossOptions options{name};
  options.truncation_level = truncation_level;
  return options;
}

// The rows of a query by descending score, rows of equal scores in their order.
std::vector<std::size_t> ranked_rows(const Ranking& r, std::uint32_t query) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < r.query.size(); ++i) {
    if (r.query[i] == query) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return r.scores[a] > r.scores[b]; });
  return order;
}

double discount(std::size_t rank) { return 1.0 / std::log2(2.0 + static_cast<double>(rank)); }

// Pair by pair, in the order of the paper's definitions.
void add_naive_pairs(const Ranking& r, std::uint32_t query, bool by_ndcg, std::size_t truncation,
                     Derived& out) {
  const auto order = ranked_rows(r, query);
  if (order.empty()) return;
  const auto gain = [&](std::size_t rank) { return std::exp2(r.relevance[order[rank]]) - 1.0; };
  std::vector<double> best;
  for (std::size_t k = 0; k < order.size(); ++k) best.push_back(gain(k));
  std::sort(best.rbegin(), best.rend());
  double dcg = 0.0;
  for (std::size_t k = 0; k < std::min(truncation, best.size()); ++k) dcg += best[k] * discount(k);
  const double spread = r.scores[order.front()] - r.scores[order.back()];
  std::vector<double> g(order.size()), h(order.size());
  double size = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (gain(i) == gain(j) || (by_ndcg && i >= truncation)) continue;
      const std::size_t better = gain(i) > gain(j) ? i : j, worse = better == i ? j : i;
      const double difference = r.scores[order[better]] - r.scores[order[worse]];
      const double rho = 1.0 / (1.0 + std::exp(difference));
      double weight = 1.0;
      if (by_ndcg) {
        weight = (gain(better) - gain(worse)) * (discount(i) - discount(j)) / dcg;
        if (spread > 0.0) weight /= 0.01 + std::abs(difference);
      }
      g[better] -= weight * rho;
      g[worse] += weight * rho;
      h[better] += weight * rho * (1.0 - rho);
      h[worse] += weight * rho * (1.0 - rho);
      size += 2.0 * weight * rho;
    }
  }
  const double factor = size > 0.0 ? std::log2(1.0 + size) / size : 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    out.gradient[order[k]] = factor * g[k];
    out.hessian[order[k]] = factor * h[k];
  }
}

void check_close(const Derived& got, const Derived& expected) {
  for (std::size_t i = 0; i < got.gradient.size(); ++i) {
    CHECK(got.gradient[i] == doctest::Approx(expected.gradient[i]).epsilon(1e-9));
    CHECK(got.hessian[i] == doctest::Approx(expected.hessian[i]).epsilon(1e-9));
  }
}

}  // namespace

TEST_CASE("lambdarank: the derivatives of three documents, by hand") {
  // Scores 0, 0, 0 rank rows in their order; gains 0, 1, 3. The best order has the DCG 3 + 1 / log2 3. All
  // rho are 1/2, and scores are equal, so that distances do not count.
  const Ranking ranking{{0, 1, 2}, {}, {0, 0, 0}, {0, 0, 0}, {0, 1, 2}};
  const double second = 1.0 / std::log2(3.0), third = 0.5, dcg = 3.0 + second;
  const double w01 = 1.0 * (1.0 - second) / dcg, w02 = 3.0 * (1.0 - third) / dcg,
               w12 = 2.0 * (second - third) / dcg;
  const double size = w01 + w02 + w12;  // twice half of each
  const double factor = std::log2(1.0 + size) / size;
  const Derived derived = derive(options_of("lambdarank"), ranking);
  CHECK(derived.gradient[0] == doctest::Approx(factor * 0.5 * (w01 + w02)));
  CHECK(derived.gradient[1] == doctest::Approx(factor * 0.5 * (w12 - w01)));
  CHECK(derived.gradient[2] == doctest::Approx(-factor * 0.5 * (w02 + w12)));
  CHECK(derived.hessian[1] == doctest::Approx(factor * 0.25 * (w01 + w12)));
}

TEST_CASE("pairs have the derivatives of their definitions") {
  for (const double spread : {0.0, 3.0, 2000.0}) {
    const Ranking ranking = random_ranking(400, 9, spread);
    for (const bool by_ndcg : {true, false}) {
      for (const std::size_t truncation : {std::size_t{1}, std::size_t{10}, std::size_t{1000}}) {
        Derived naive{std::vector<double>(400), std::vector<double>(400)};
        for (std::uint32_t q = 0; q < 9; ++q) {
          add_naive_pairs(ranking, q, by_ndcg, truncation, naive);
        }
        const char* name = by_ndcg ? "lambdarank" : "pairwise";
        check_close(derive(options_of(name, truncation), ranking), naive);
      }
    }
  }
}

TEST_CASE("xe_ndcg: derivatives are finite differences of a cross entropy, and targets are drawn") {
  Ranking ranking = random_ranking(40, 1, 2.0);
  const Derived derived = derive(options_of("xe_ndcg"), ranking);
  // p = rho - gradient are the targets, which do not depend on the scores.
  std::vector<double> p(40);
  const auto softmax = [&](const std::vector<double>& f) {
    std::vector<double> rho(f.size());
    for (std::size_t i = 0; i < f.size(); ++i) rho[i] = std::exp(f[i]);
    const double total = std::accumulate(rho.begin(), rho.end(), 0.0);
    for (double& x : rho) x /= total;
    return rho;
  };
  const auto rho = softmax(ranking.scores);
  for (std::size_t i = 0; i < 40; ++i) p[i] = rho[i] - derived.gradient[i];
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1.0));
  CHECK(*std::min_element(p.begin(), p.end()) > 0.0);
  const auto loss = [&](const std::vector<double>& f) {
    const auto of = softmax(f);
    double sum = 0.0;
    for (std::size_t i = 0; i < f.size(); ++i) sum -= p[i] * std::log(of[i]);
    return sum;
  };
  for (std::size_t i = 0; i < 40; ++i) {
    auto up = ranking.scores, down = ranking.scores;
    up[i] += 1e-3;
    down[i] -= 1e-3;
    const double slope = (loss(up) - loss(down)) / 2e-3;
    const double bend = (loss(up) - 2.0 * loss(ranking.scores) + loss(down)) / 1e-6;
    CHECK(derived.gradient[i] == doctest::Approx(slope).epsilon(1e-4));
    CHECK(derived.hessian[i] == doctest::Approx(bend).epsilon(1e-3));
  }
  CHECK(derive(options_of("xe_ndcg"), ranking, 1, 1).gradient != derived.gradient);
}

TEST_CASE("yetirank: the pairs of a query of two rows are neighbours in every ranking") {
  // 10 rankings, each with the weight (3 - 1) / (1 * 10).
  const Ranking ranking{{1, 3}, {}, {0.5, 0.2}, {0, 0}, {0, 1}};
  const Derived derived = derive(options_of("yetirank"), ranking);
  const double rho = 1.0 / (1.0 + std::exp(0.2 - 0.5));
  CHECK(derived.gradient[1] == doctest::Approx(-2.0 * rho));
  CHECK(derived.gradient[0] == -derived.gradient[1]);
  CHECK(derived.hessian[0] == doctest::Approx(2.0 * rho * (1.0 - rho)));
  CHECK(derived.hessian[0] == derived.hessian[1]);
}

TEST_CASE("yetirank: over many rounds, weights are the expected ones of random rankings") {
  // Scores 0, 0.7, 1.5 and relevance 2, 0, 1. The probability of a ranking follows from the noise, logistic
  // numbers, here by integration: of places among 3, each pair is next to each other at rank 1, rank 2 or not.
  const Ranking ranking{{2, 0, 1}, {}, {0.0, 0.7, 1.5}, {0, 0, 0}, {0, 1, 2}};
  Derived mean{std::vector<double>(3), std::vector<double>(3)};
  constexpr std::uint32_t kRounds = 20000;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const Derived derived = derive(options_of("yetirank"), ranking, 1, round);
    for (std::size_t i = 0; i < 3; ++i) {
      mean.gradient[i] += derived.gradient[i] / kRounds;
      mean.hessian[i] += derived.hessian[i] / kRounds;
    }
  }
  // P(i before j before k) = integral over the noise of j: P(i above) P(k below), noise by its quantiles.
  const auto above = [&](std::size_t i, double z) {
    return 1.0 / (1.0 + std::exp(z - ranking.scores[i]));
  };
  Derived expected{std::vector<double>(3), std::vector<double>(3)};
  constexpr int kPoints = 20000;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (i == j) continue;
      const std::size_t k = 3 - i - j;
      double probability = 0.0;
      for (int point = 0; point < kPoints; ++point) {
        const double u = (point + 0.5) / kPoints;
        const double z = ranking.scores[j] + std::log(u / (1.0 - u));
        probability += above(i, z) * (1.0 - above(k, z)) / kPoints;
      }
      const std::size_t order[] = {i, j, k};
      for (std::size_t rank = 0; rank < 2; ++rank) {
        std::size_t better = order[rank], worse = order[rank + 1];
        if (ranking.relevance[better] < ranking.relevance[worse]) std::swap(better, worse);
        const double weight = probability * (ranking.relevance[better] - ranking.relevance[worse]) /
                              static_cast<double>(rank + 1);
        const double rho = 1.0 / (1.0 + std::exp(ranking.scores[better] - ranking.scores[worse]));
        expected.gradient[better] -= weight * rho;
        expected.gradient[worse] += weight * rho;
        expected.hessian[better] += weight * rho * (1.0 - rho);
        expected.hessian[worse] += weight * rho * (1.0 - rho);
      }
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(mean.gradient[i] == doctest::Approx(expected.gradient[i]).epsilon(0.01));
    CHECK(mean.hessian[i] == doctest::Approx(expected.hessian[i]).epsilon(0.01));
  }
  const Ranking longer = random_ranking(40, 1, 2.0);
  CHECK(derive(options_of("yetirank"), longer, 1, 1).gradient !=
        derive(options_of("yetirank"), longer, 1, 2).gradient);
}

TEST_CASE("derivatives of rankings depend neither on threads nor on the numbers of queries") {
  const Ranking ranking = random_ranking(20000, 300, 3.0);
  Ranking renamed = ranking;
  for (auto& query : renamed.query) query = 299 - query;
  for (const char* name : {"lambdarank", "pairwise", "xe_ndcg", "yetirank"}) {
    const Derived one = derive(options_of(name), ranking);
    for (const Derived& other :
         {derive(options_of(name), ranking, 4), derive(options_of(name), renamed)}) {
      CHECK(one.gradient == other.gradient);
      CHECK(one.hessian == other.hessian);
    }
  }
}

TEST_CASE(
    "weights of rankings are factors, and queries of one row or one relevance have no "
    "derivatives") {
  Ranking ranking{{1, 2, 0, 3, 3}, {}, {1, 0, 2, 5, 4}, {0, 0, 1, 2, 2}, {0, 1, 2, 3, 4}};
  const Derived plain = derive(options_of("lambdarank"), ranking);
  for (const std::size_t i : {2, 3, 4}) CHECK(plain.gradient[i] == 0.0);
  CHECK(plain.gradient[0] > 0.0);
  CHECK(plain.gradient[0] == -plain.gradient[1]);
  ranking.weight = {2, 2, 1, 1, 1};
  CHECK(derive(options_of("lambdarank"), ranking).gradient[0] == 2.0 * plain.gradient[0]);
}

TEST_CASE("invalid relevance is refused") {
  const std::vector<std::uint32_t> query = {0, 0};
  for (const double wrong : {-1.0, 0.5, 32.0}) {
    CHECK_THROWS_AS(
        make_objective(options_of("lambdarank"), std::vector<double>{0.0, wrong}, {}, query),
        Error);
  }
  CHECK_THROWS_AS(make_objective(options_of("pairwise"), std::vector<double>{0.0, 1.0}, {}), Error);
}

}  // namespace arboleda
