#include "split/hit_draw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace arboleda {

namespace {

double log_choose(std::size_t n, std::size_t k) {
  const auto x = static_cast<double>(n), y = static_cast<double>(k);
  return std::lgamma(x + 1) - std::lgamma(y + 1) - std::lgamma(x - y + 1);
}

// How far the numbers of hits are from their law, in units of what chance brings about.
void check_hits(std::size_t n_features, std::size_t n_drawn, std::size_t n_candidates) {
  CAPTURE(n_features);
  CAPTURE(n_drawn);
  CAPTURE(n_candidates);
  constexpr std::size_t kTimes = 20000;
  const HitDraw hits(n_features, n_drawn);
  std::vector<double> n_times(n_candidates + 1), n_hit(n_candidates);
  double n_all = 0.0;
  for (std::size_t node = 0; node < kTimes; ++node) {
    QuickStream random(QuickStream::root(5, Purpose::feature_subset, 1), node);
    std::vector<std::size_t> candidates(n_candidates);
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    const std::size_t n = hits.draw(std::span(candidates), random);
    REQUIRE(n <= n_candidates);
    ++n_times[n];
    for (std::size_t i = 0; i < n; ++i) ++n_hit[candidates[i]];
    n_all += static_cast<double>(n);
    std::sort(candidates.begin(), candidates.end());  // none is lost
    for (std::size_t i = 0; i < n_candidates; ++i) REQUIRE(candidates[i] == i);
  }
  for (std::size_t h = 0; h <= n_candidates; ++h) {
    const bool can_be = h <= n_drawn && n_drawn - h <= n_features - n_candidates;
    const double p = !can_be ? 0.0
                             : std::exp(log_choose(n_candidates, h) +
                                        log_choose(n_features - n_candidates, n_drawn - h) -
                                        log_choose(n_features, n_drawn));
    CHECK(std::abs(n_times[h] - kTimes * p) <= 5 * std::sqrt(kTimes * p * (1 - p)) + 1e-6);
  }
  for (const double n : n_hit) {
    const double p = n_all / static_cast<double>(n_candidates) / kTimes;
    CHECK(std::abs(n - kTimes * p) <= 5 * std::sqrt(kTimes * p * (1 - p)) + 1e-6);
  }
}

}  // namespace

TEST_CASE("hits among candidates follow the hypergeometric law, each as likely as the others" *
          doctest::test_suite("one thread")) {
  check_hits(108, 10, 20);
  check_hits(108, 10, 1);
  check_hits(20, 4, 16);
  check_hits(20, 4, 17);  // at least one is hit
  check_hits(20, 20, 7);
  check_hits(20, 1, 20);
  check_hits(5000, 70, 100);  // of many features no table is made
}

TEST_CASE("what is hit depends on the stream alone") {
  const HitDraw hits(30, 5);
  std::map<std::vector<int>, int> seen;
  for (int times = 0; times < 2; ++times) {
    for (std::uint64_t node = 0; node < 20; ++node) {
      QuickStream random(QuickStream::root(5, Purpose::feature_subset, 1), node);
      std::vector<int> candidates(12);
      std::iota(candidates.begin(), candidates.end(), 0);
      candidates.resize(hits.draw(std::span(candidates), random));
      candidates.push_back(static_cast<int>(100 + node));
      ++seen[candidates];
    }
  }
  CHECK(seen.size() == 20);
}

}  // namespace arboleda
