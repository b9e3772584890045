#include "criterion/absolute_error.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace arboleda {

namespace {

struct Rows {
  std::vector<double> y, weight;

  // W_side times its mean distance to the median, tried over all targets.
  double loss(std::size_t begin, std::size_t end) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t m = begin; m < end; ++m) {
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += weight[i] * std::abs(y[i] - y[m]);
      least = std::min(least, sum);
    }
    return least;
  }
};

// Scores of all splits of rows in their order, and the impurity and value of all of them.
template <class Sum>
void check_against_definition(const Rows& rows, int target_bits) {
  const std::size_t n = rows.y.size();
  const FixedWeights weights = fix_weights(rows.weight, n, kWideWeightBits);
  const FixedTargets targets = fix_targets(rows.y, {}, target_bits);
  const AbsoluteError<Sum> criterion(rows.y, targets, weights);
  std::vector<RowIndex> all(n);
  std::iota(all.begin(), all.end(), 0u);
  RankedTargets<Sum> local;
  criterion.gather(all, local);
  Moments<Sum> total;
  double whole = 0;
  for (std::size_t i = 0; i < n; ++i) {
    criterion.add(local, i, &total);
    whole += rows.weight[i];
  }
  CHECK(criterion.weight(&total) * criterion.weight_unit() == doctest::Approx(whole));
  const double unit = std::ldexp(1.0, criterion.impurity_exponent());
  CHECK(criterion.impurity(local, &total) * unit ==
        doctest::Approx(rows.loss(0, n) / whole).epsilon(1e-9));

  auto sides = criterion.make_sides();
  for (int again = 0; again < 2; ++again) {  // the scratch of one scan serves the next
    sides.reset(&total, n);
    for (std::size_t i = 0; i + 1 < n; ++i) {
      criterion.move_row(local, i, sides);
      const double score = sides.score() * unit * criterion.weight_unit();
      CHECK(-score == doctest::Approx(rows.loss(0, i + 1) + rows.loss(i + 1, n)).epsilon(1e-9));
      CHECK(sides.n_left() == i + 1);
      CHECK(sides.n_left() + sides.n_right() == n);
    }
  }
}

double median(const std::vector<double>& y, const std::vector<double>& weight) {
  const FixedWeights weights = fix_weights(weight, y.size(), kWideWeightBits);
  const FixedTargets targets = fix_targets(y, {}, kWideTargetBits);
  const AbsoluteError<Int128> criterion(y, targets, weights);
  std::vector<RowIndex> all(y.size());
  std::iota(all.begin(), all.end(), 0u);
  RankedTargets<Int128> local;
  criterion.gather(all, local);
  Moments<Int128> total;
  for (std::size_t i = 0; i < y.size(); ++i) criterion.add(local, i, &total);
  double value = 0;
  criterion.value(all, local, &total, &value);
  return value;
}

}  // namespace

TEST_CASE("losses of both sides follow the definition, with ties and with uneven weights") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    RandomStream random(seed, Purpose::feature_subset, 0, 0);
    for (const std::size_t n : {1u, 2u, 3u, 7u, 8u, 9u, 64u, 100u}) {
      Rows rows;
      for (std::size_t i = 0; i < n; ++i) {
        rows.y.push_back(seed % 2 == 0 ? random.below(5) : random.below(1000000) * 0.013 - 400);
        rows.weight.push_back(1.0);
      }
      check_against_definition<std::int64_t>(rows, 44);
      for (auto& w : rows.weight) w = 0.1 + random.below(1000) * 0.0037;
      check_against_definition<Int128>(rows, kWideTargetBits);
    }
  }
}

TEST_CASE("the median is midway where exactly half the weight lies below") {
  CHECK(median({3, 1, 2}, {1, 1, 1}) == 2);
  CHECK(median({3, 1, 2, 10}, {1, 1, 1, 1}) == 2.5);
  CHECK(median({1, 2, 3}, {1, 1, 2}) == 2.5);
  CHECK(median({1, 2, 3}, {0.7, 0.7, 1.4}) == 2.5);
  CHECK(median({1, 2, 3}, {1, 1, 2.001}) == 3);
  CHECK(median({5, 5, 5, 9}, {1, 1, 1, 1}) == 5);
  CHECK(median({-1.5e308, 1.7e308}, {1, 1}) == doctest::Approx(1e307));
  CHECK(median({7}, {3}) == 7);
}

}  // namespace arboleda
