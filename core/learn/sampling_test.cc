#include "learn/sampling.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace arboleda {

namespace {

struct Derivatives2 {
  std::vector<double> gradient, hessian;
};

// Two outputs; gradients of very different sizes.
Derivatives2 some_derivatives(std::size_t n) {
  RandomStream random(3, Purpose::random_split, 0, 0);
  Derivatives2 made{std::vector<double>(2 * n), std::vector<double>(2 * n)};
  for (auto& g : made.gradient) g = std::pow(2.0 * random.uniform() - 1.0, 5.0);
  for (auto& h : made.hessian) h = 0.1 + random.uniform();
  return made;
}

std::vector<RowIndex> every_other(std::size_t n) {
  std::vector<RowIndex> rows;
  for (RowIndex i = 0; i < n; i += 2) rows.push_back(i);
  return rows;
}

// Of independent draws.
class Mean {
 public:
  void add(double x) {
    ++n_;
    sum_ += x;
    squares_ += x * x;
  }
  // Within 4 standard errors, which one draw of 16,000 is not.
  bool is_near(double expected) const {
    const double mean = sum_ / n_;
    return std::abs(mean - expected) <= 4.0 * std::sqrt((squares_ / n_ - mean * mean) / n_);
  }

 private:
  double n_ = 0.0, sum_ = 0.0, squares_ = 0.0;
};

double sum_over(std::span<const RowIndex> rows, std::span<const double> values) {
  double sum = 0.0;
  for (const RowIndex row : rows) sum += values[row];
  return sum;
}

}  // namespace

TEST_SUITE("sampling") {
  TEST_CASE("uniform: the wanted number of rows, each as often as any other") {
    const Context context(1, 7);
    const auto rows = every_other(2000);
    RowSampler sampler({.row_share = 0.3}, rows, 2000, context);
    std::vector<double> gradient(2000), none;
    std::vector<int> times(2000);
    for (std::uint32_t round = 0; round < 400; ++round) {
      const auto drawn = sampler.draw(round, gradient, none);
      REQUIRE(drawn.size() == 300);
      CHECK(std::is_sorted(drawn.begin(), drawn.end()));
      for (const RowIndex row : drawn) ++times[row];
    }
    for (std::size_t i = 0; i < 2000; ++i) {
      // 400 draws with probability 0.3: mean 120, deviation 9.2.
      if (i % 2 == 1)
        CHECK(times[i] == 0);
      else
        CHECK(std::abs(times[i] - 120) < 46);
    }
    CHECK(none.empty());
  }

  TEST_CASE("all rows when nothing is left out") {
    const Context context(1);
    const auto rows = every_other(10);
    RowSampler sampler({}, rows, 10, context);
    std::vector<double> gradient(10), hessian;
    const auto drawn = sampler.draw(0, gradient, hessian);
    CHECK(drawn.data() == rows.data());
  }

  TEST_CASE("goss keeps the largest gradients; weighted sums are unbiased") {
    const std::size_t n = 1000;
    const Context context(2, 7);
    const auto rows = every_other(n);
    const Derivatives2 full = some_derivatives(n);
    RowSampler sampler({.method = SamplingMethod::goss, .top_share = 0.2, .other_share = 0.1}, rows,
                       n, context);
    std::vector<std::pair<double, RowIndex>> by_size;
    for (const RowIndex row : rows) {
      by_size.emplace_back(-std::abs(full.gradient[row]) - std::abs(full.gradient[row + n]), row);
    }
    std::sort(by_size.begin(), by_size.end());

    Mean g, h;
    const int n_draws = 2000;
    for (int round = 0; round < n_draws; ++round) {
      Derivatives2 some = full;
      const auto drawn =
          sampler.draw(static_cast<std::uint32_t>(round), some.gradient, some.hessian);
      REQUIRE(drawn.size() == 150);
      for (std::size_t i = 0; i < 100; ++i) {
        const RowIndex row = by_size[i].second;
        REQUIRE(std::binary_search(drawn.begin(), drawn.end(), row));
        REQUIRE(some.gradient[row] == full.gradient[row]);
      }
      g.add(sum_over(drawn, some.gradient));
      h.add(sum_over(drawn, some.hessian));
    }
    CHECK(g.is_near(sum_over(rows, full.gradient)));
    CHECK(h.is_near(sum_over(rows, full.hessian)));
  }

  TEST_CASE("goss: of sizes that tie, on any number of threads, as by sorting") {
    const std::size_t n = 140'000;
    std::vector<RowIndex> rows;
    for (RowIndex i = 0; i < n; ++i) {
      if (i % 7 != 3) rows.push_back(i);
    }
    std::vector<double> sizes(n);
    RandomStream random(8, Purpose::random_split, 0, 0);
    for (auto& g : sizes) g = random.below(6) * (random.below(2) == 0 ? 0.5 : -0.5);
    std::vector<std::pair<double, RowIndex>> by_size, by_word;
    for (const RowIndex row : rows) by_size.emplace_back(-std::abs(sizes[row]), row);
    std::sort(by_size.begin(), by_size.end());
    const std::size_t n_top = rows.size() / 4, n_other = rows.size() / 8;
    const RowWords words(9, Purpose::row_sample, 6);
    std::vector<double> weight(n);
    std::vector<std::pair<std::uint64_t, RowIndex>> others;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (i < n_top) {
        weight[by_size[i].second] = 1.0;
      } else {
        others.emplace_back(words(by_size[i].second), by_size[i].second);
      }
    }
    std::sort(others.begin(), others.end());
    const double factor = static_cast<double>(rows.size() - n_top) / static_cast<double>(n_other);
    for (std::size_t i = 0; i < n_other; ++i) weight[others[i].second] = factor;

    for (const int n_threads : {1, 2, 3, 7}) {
      const Context context(n_threads, 9);
      RowSampler sampler({.method = SamplingMethod::goss, .top_share = 0.25, .other_share = 0.125},
                         rows, n, context);
      std::vector<double> gradient = sizes, hessian;
      const auto drawn = sampler.draw(6, gradient, hessian);
      REQUIRE(drawn.size() == n_top + n_other);
      CHECK(std::is_sorted(drawn.begin(), drawn.end()));
      bool same = true;
      for (const RowIndex row : drawn) {
        same &= weight[row] > 0.0 && gradient[row] == weight[row] * sizes[row];
        same &= hessian[row] == weight[row];
      }
      CHECK(same);
    }
  }

  TEST_CASE("goss: ties go to the lower rows; hessians of 1 are written out") {
    const Context context(1, 7);
    const auto rows = every_other(40);
    RowSampler sampler({.method = SamplingMethod::goss, .top_share = 0.5, .other_share = 0.25},
                       rows, 40, context);
    std::vector<double> gradient(40, 1.0), hessian;
    const auto drawn = sampler.draw(0, gradient, hessian);
    REQUIRE(drawn.size() == 15);
    for (std::size_t i = 0; i < 10; ++i) CHECK(drawn[i] == rows[i]);
    for (std::size_t i = 0; i < 15; ++i) {
      CHECK(gradient[drawn[i]] == (i < 10 ? 1.0 : 2.0));
      CHECK(hessian[drawn[i]] == (i < 10 ? 1.0 : 2.0));
    }
  }

  TEST_CASE(
      "by gradient: the wanted number of rows on average, unbiased, rows of no gradient too") {
    const std::size_t n = 600;
    const Context context(3, 11);
    const auto rows = every_other(n);
    Derivatives2 full = some_derivatives(n);
    full.gradient[0] = full.gradient[n] = 0.0;
    RowSampler sampler({.method = SamplingMethod::gradient, .row_share = 0.25}, rows, n, context);
    Mean n_drawn, g, h, first;
    const int n_draws = 4000;
    for (int round = 0; round < n_draws; ++round) {
      Derivatives2 some = full;
      const auto drawn =
          sampler.draw(static_cast<std::uint32_t>(round), some.gradient, some.hessian);
      n_drawn.add(static_cast<double>(drawn.size()));
      g.add(sum_over(drawn, some.gradient));
      h.add(sum_over(drawn, some.hessian));
      first.add(drawn[0] == 0 ? some.hessian[0] : 0.0);
    }
    CHECK(n_drawn.is_near(75));
    CHECK(g.is_near(sum_over(rows, full.gradient)));
    CHECK(h.is_near(sum_over(rows, full.hessian)));
    CHECK(first.is_near(full.hessian[0]));
  }

  TEST_CASE("draws are the same on any number of threads, and differ from round to round") {
    const std::size_t n = 100'000;
    std::vector<RowIndex> rows(n);
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    const Derivatives2 full = some_derivatives(n);
    for (const auto method :
         {SamplingMethod::uniform, SamplingMethod::goss, SamplingMethod::gradient}) {
      std::vector<RowIndex> first;
      for (const int n_threads : {1, 2, 3, 8}) {
        const Context context(n_threads, 1);
        RowSampler sampler({.method = method, .row_share = 0.4}, rows, n, context);
        Derivatives2 some = full;
        const auto drawn = sampler.draw(4, some.gradient, some.hessian);
        if (first.empty()) first.assign(drawn.begin(), drawn.end());
        CHECK(std::equal(drawn.begin(), drawn.end(), first.begin(), first.end()));
        some = full;
        const auto next = sampler.draw(5, some.gradient, some.hessian);
        CHECK_FALSE(std::equal(next.begin(), next.end(), first.begin(), first.end()));
      }
    }
  }

  TEST_CASE("by gradient: of many rows, too, the wanted number, unbiased") {
    const std::size_t n = 100'000;
    const Context context(2, 5);
    const auto rows = every_other(n);
    const Derivatives2 full = some_derivatives(n);
    RowSampler sampler({.method = SamplingMethod::gradient, .row_share = 0.1}, rows, n, context);
    Mean n_drawn, g, h;
    const int n_draws = 40;
    for (int round = 0; round < n_draws; ++round) {
      Derivatives2 some = full;
      const auto drawn =
          sampler.draw(static_cast<std::uint32_t>(round), some.gradient, some.hessian);
      CHECK(std::is_sorted(drawn.begin(), drawn.end()));
      CHECK(std::includes(rows.begin(), rows.end(), drawn.begin(), drawn.end()));
      n_drawn.add(static_cast<double>(drawn.size()));
      g.add(sum_over(drawn, some.gradient));
      h.add(sum_over(drawn, some.hessian));
    }
    CHECK(n_drawn.is_near(5000));
    CHECK(g.is_near(sum_over(rows, full.gradient)));
    CHECK(h.is_near(sum_over(rows, full.hessian)));
  }

  TEST_CASE("automatic: all rows of small tables and for large trees, else a share") {
    const SamplingOptions automatic{.method = SamplingMethod::automatic};
    CHECK(automatic.weighs());
    CHECK_FALSE(automatic.takes_all());
    CHECK(resolve(automatic, 50'000, 31).takes_all());
    CHECK(resolve(automatic, 10'000'000, INT64_MAX).takes_all());
    double before = 1.0;
    for (const std::size_t n : {1'000'000, 10'000'000, 100'000'000}) {
      const SamplingOptions some = resolve(automatic, n, 31);
      CHECK(some.method == SamplingMethod::gradient);
      CHECK(some.row_share <= before);
      CHECK(some.row_share <= resolve(automatic, n, 255).row_share);
      before = some.row_share;
    }
    const SamplingOptions goss{.method = SamplingMethod::goss, .top_share = 0.3};
    CHECK(resolve(goss, 1'000'000, 31).method == SamplingMethod::goss);
    CHECK(resolve(goss, 1'000'000, 31).top_share == 0.3);
  }

  TEST_CASE("where all rows are equal all are drawn") {
    const Context context(1);
    const auto rows = every_other(10);
    RowSampler sampler({.method = SamplingMethod::gradient, .row_share = 0.5}, rows, 10, context);
    std::vector<double> gradient(10), hessian(10);
    CHECK(sampler.draw(0, gradient, hessian).size() == 5);
  }
}

}  // namespace arboleda
