#include "objective/weighted_quantile.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

// The definition, by trying every number. level = numerator / 40, so that nothing is rounded.
double naive_quantile(const std::vector<double>& x, const std::vector<std::uint64_t>& weight,
                      std::uint64_t numerator, Between between) {
  std::uint64_t total = 0;
  for (const auto w : weight) total += w;
  std::vector<double> sorted;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (weight[i] > 0) sorted.push_back(x[i]);
  }
  std::sort(sorted.begin(), sorted.end());
  for (const double candidate : sorted) {
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i < x.size(); ++i) up_to += x[i] <= candidate ? weight[i] : 0;
    if (40 * up_to < numerator * total) continue;
    const auto next = std::upper_bound(sorted.begin(), sorted.end(), candidate);
    const bool exact = 40 * up_to == numerator * total && next != sorted.end();
    return exact && between == Between::midway ? std::midpoint(candidate, *next) : candidate;
  }
  return 0.0;
}

}  // namespace

TEST_CASE("weighted quantiles are those of the definition") {
  RandomStream random(11, Purpose::feature_subset, 0, 0);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = 1 + random.below(40);
    std::vector<double> x(n);
    std::vector<std::uint64_t> weight(n, 1);
    for (auto& v : x) v = static_cast<double>(random.below(12)) - 6.0;
    const std::uint64_t numerator = 1 + random.below(39);
    const double level = static_cast<double>(numerator) / 40;
    for (const Between between : {Between::lower, Between::midway}) {
      REQUIRE(weighted_quantile(x, {}, level, between) ==
              naive_quantile(x, weight, numerator, between));
    }
    for (auto& w : weight) w = random.below(4);
    for (const Between between : {Between::lower, Between::midway}) {
      REQUIRE(weighted_quantile(x, weight, level, between) ==
              naive_quantile(x, weight, numerator, between));
    }
  }
}

TEST_CASE("a weight is as many rows, and every weight may be multiplied") {
  RandomStream random(12, Purpose::feature_subset, 0, 0);
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = 1 + random.below(30);
    std::vector<double> x(n), repeated;
    std::vector<std::uint64_t> weight(n), tripled(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<double>(random.below(1000));
      weight[i] = 1 + random.below(4);
      tripled[i] = 3 * weight[i];
      repeated.insert(repeated.end(), weight[i], x[i]);
    }
    for (const double level : {0.05, 0.07, 0.1, 0.29, 0.3, 0.5, 0.7, 0.9, 0.95}) {
      for (const Between between : {Between::lower, Between::midway}) {
        const double q = weighted_quantile(x, weight, level, between);
        REQUIRE(weighted_quantile(repeated, {}, level, between) == q);
        REQUIRE(weighted_quantile(x, tripled, level, between) == q);
      }
    }
  }
}

TEST_CASE("levels that no double holds are met by the count they mean") {
  for (const int n : {10, 20, 30, 70, 100, 110, 1000, 100000}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    std::iota(x.rbegin(), x.rend(), 1.0);
    for (const int tenths : {1, 3, 6, 7, 9}) {
      const double level = tenths / 10.0;
      CHECK(weighted_quantile(x, {}, level, Between::lower) == n / 10 * tenths);
      CHECK(weighted_quantile(x, {}, level, Between::midway) == n / 10 * tenths + 0.5);
    }
  }
  std::vector<double> x(100);
  std::iota(x.begin(), x.end(), 1.0);
  for (const int hundredths : {7, 14, 28, 29, 55, 57, 58}) {  // 0.07 * 100 is more than 7
    const double level = hundredths / 100.0;
    CHECK(weighted_quantile(x, {}, level, Between::lower) == hundredths);
    CHECK(weighted_quantile(x, {}, level, Between::midway) == hundredths + 0.5);
  }
}

TEST_CASE("quantiles of nothing, of no weight, of zeros of both signs and of what is no number") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<std::uint64_t> none = {0, 0};
  CHECK(weighted_quantile({}, {}, 0.5, Between::lower) == 0.0);
  CHECK(weighted_quantile(std::vector{1.0, 2.0}, none, 0.5, Between::midway) == 0.0);
  CHECK_FALSE(std::signbit(weighted_quantile(std::vector{-0.0}, {}, 0.5, Between::lower)));
  CHECK(weighted_quantile(std::vector{kInf, -kInf, 3.0}, {}, 0.5, Between::lower) == 3.0);
  CHECK(weighted_quantile(std::vector{std::nan(""), 1.0, 2.0}, {}, 0.5, Between::lower) == 2.0);
}

TEST_CASE("numbers in several places have the quantiles of all of them") {
  RandomStream random(13, Purpose::feature_subset, 0, 0);
  const std::size_t n = 20'000;  // more than are searched without sums
  std::vector<double> x(n);
  std::vector<std::uint64_t> weight(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = random.uniform() < 0.1 ? 0.0 : random.uniform() - 0.4;
    weight[i] = random.below(5);
  }
  const std::vector<std::uint64_t> none;
  for (const auto& weights : {none, weight}) {
    for (const double level : {0.1, 0.45, 0.5, 0.9999}) {
      const double whole = weighted_quantile(x, weights, level, Between::midway);
      const auto reached = [&](double up_to, bool with_equal) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
          const bool counts = with_equal ? x[i] <= up_to : x[i] < up_to;
          sum += counts ? weights.empty() ? 1.0 : static_cast<double>(weights[i]) : 0.0;
        }
        return sum;
      };
      CHECK(reached(whole, true) >= level * reached(1.0, true) * (1 - 1e-12));
      CHECK(reached(whole, false) <= level * reached(1.0, true));
      for (const std::size_t n_parts : {2, 3, 7}) {
        std::vector<WeightedNumbers> parts;
        for (std::size_t p = 0, begin = 0; p < n_parts; ++p) {
          const std::size_t end = p + 1 == n_parts ? n : p == 1 ? begin : begin + (n - begin) / 4;
          parts.push_back({std::span(x).subspan(begin, end - begin), {}});
          if (!weights.empty()) parts[p].weight = std::span(weights).subspan(begin, end - begin);
          begin = end;
        }
        CHECK(weighted_quantile(parts, level, Between::midway) == whole);
      }
    }
  }
}

}  // namespace arboleda
