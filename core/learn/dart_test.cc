#include "learn/dart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/random.h"

namespace arboleda {

TEST_SUITE("dart") {
  TEST_CASE("every earlier round is dropped as often as requested") {
    const DartOptions options{.drop_rate = 0.2, .skip_drop = 0.25};
    std::vector<int> times(20);
    int n_skipped = 0;
    const int n_seeds = 4000;
    for (std::uint64_t seed = 0; seed < n_seeds; ++seed) {
      const auto dropped = draw_dropped(options, 20, seed);
      CHECK(std::is_sorted(dropped.begin(), dropped.end()));
      for (const std::size_t round : dropped) ++times.at(round);
      if (dropped.empty()) ++n_skipped;
    }
    // 4000 draws with probability 0.75 * 0.2: mean 600, deviation 22.6.
    for (const int n : times) CHECK(std::abs(n - 600) < 113);
    // 0.25 + 0.75 * 0.8^20: mean 1035, deviation 28.
    CHECK(std::abs(n_skipped - 1035) < 140);
  }

  TEST_CASE("no more than the largest number is dropped, each round as likely as any") {
    const DartOptions options{.drop_rate = 1.0, .skip_drop = 0.0, .max_drop = 3};
    std::vector<int> times(10);
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      const auto dropped = draw_dropped(options, 10, seed);
      REQUIRE(dropped.size() == 3);
      for (const std::size_t round : dropped) ++times.at(round);
    }
    // Mean 600, deviation 20.5.
    for (const int n : times) CHECK(std::abs(n - 600) < 103);
    CHECK(draw_dropped(options, 0, 1).empty());
    CHECK(draw_dropped({}, 10, 1).empty());
  }

  TEST_CASE("new and dropped trees together are as large as the dropped ones were") {
    CHECK(share_of_new(0.3, 0) == 0.3);
    CHECK(share_of_new(1.0, 4) == doctest::Approx(1.0 / 5));
    CHECK(share_of_dropped(1.0, 4) == doctest::Approx(4.0 / 5));
    for (const std::size_t k : {1u, 2u, 9u}) {
      CHECK(share_of_new(0.1, k) + share_of_dropped(0.1, k) == doctest::Approx(1.0));
    }
  }

  TEST_CASE("sums on the grid are exact in any order; who continues finds the grid again") {
    for (const double size : {1e-9, 1.0, 3e11}) {
      RandomStream random(2, Purpose::random_split, 0, 0);
      std::vector<double> target(300);
      for (double& y : target) y = size * (random.uniform() + 0.2);
      for (const char* name : {"squared_error", "absolute_error", "poisson"}) {
        const auto objective = make_objective({.name = name}, target, {});
        std::vector<RowIndex> rows(target.size());
        std::iota(rows.begin(), rows.end(), RowIndex{0});
        std::vector<double> start = objective->start(rows);
        const double before = start[0];
        const ScoreGrid grid(*objective, rows, nullptr, start);
        CHECK(start[0] == doctest::Approx(before).epsilon(1e-12));

        const ScoreGrid again(start);
        double sum = start[0];
        std::vector<double> steps;
        for (int i = 0; i < 200; ++i) {
          const double step = (random.uniform() - 0.5) * std::abs(before);
          CHECK(again.nearest(step) == grid.nearest(step));
          CHECK(grid.nearest(step) == doctest::Approx(step).epsilon(1e-9));
          steps.push_back(grid.nearest(step));
          sum += steps.back();
        }
        for (const double step : steps) sum -= step;
        CHECK(sum == start[0]);
      }
    }
  }
}

}  // namespace arboleda
