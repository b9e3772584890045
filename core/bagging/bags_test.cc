#include "bagging/bags.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kSeed = 17;

std::vector<std::uint32_t> counts_of(const BagDraw& bags, std::uint32_t tree) {
  std::vector<std::uint32_t> counts;
  bags.counts(tree, counts);
  return counts;
}

// Squared distance of counts to their common expectation, in units of its variance: about chi square.
double chi_square(const std::vector<double>& counts, double expected) {
  double sum = 0.0;
  for (const double c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

// Within 4.5 standard deviations of chi square's mean.
void check_uniform(const std::vector<double>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  const auto freedom = static_cast<double>(counts.size() - 1);
  const double distance = chi_square(counts, expected) - freedom;
  CHECK(std::abs(distance) < 4.5 * std::sqrt(2.0 * freedom));
}

std::vector<std::uint32_t> three_classes(std::size_t n) {  // shares of about 5/8, 2/8 and 1/8
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < n; ++i) labels.push_back(i % 8 < 5 ? 0 : i % 8 < 7 ? 1 : 2);
  return labels;
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("a bootstrap draws as many rows as there are and leaves (1 - 1/N)^N of them out" *
          doctest::test_suite("one thread")) {
  for (const std::size_t n : {1u, 2u, 7u, 100u, 2000u}) {
    const BagDraw bags({BagKind::bootstrap}, {n}, kSeed);
    const std::size_t n_trees = 400000 / n;
    std::vector<double> drawn(n);
    double left_out = 0.0;
    for (std::uint32_t tree = 0; tree < n_trees; ++tree) {
      const auto counts = counts_of(bags, tree);
      REQUIRE(sum_of(counts) == n);
      for (std::size_t i = 0; i < n; ++i) {
        drawn[i] += counts[i];
        left_out += counts[i] == 0;
      }
    }
    const auto size = static_cast<double>(n);
    const double expected = std::pow(1.0 - 1.0 / size, size);
    CHECK(left_out / 400000.0 == doctest::Approx(expected).epsilon(0.01));
    if (n > 1) check_uniform(drawn);
  }
}

TEST_CASE("n_drawn rows are drawn, with and without replacement" *
          doctest::test_suite("one thread")) {
  const std::size_t n = 50;
  std::vector<double> drawn(n);
  std::map<std::pair<std::size_t, std::size_t>, double> together;
  const BagDraw with({BagKind::bootstrap, 10}, {n}, kSeed);
  const BagDraw without({BagKind::without_replacement, 10}, {n}, kSeed);
  CHECK(with.n_drawn() == 10);
  for (std::uint32_t tree = 0; tree < 20000; ++tree) {
    REQUIRE(sum_of(counts_of(with, tree)) == 10);
    const auto counts = counts_of(without, tree);
    REQUIRE(sum_of(counts) == 10);
    for (std::size_t i = 0; i < n; ++i) {
      REQUIRE(counts[i] <= 1);
      drawn[i] += counts[i];
      for (std::size_t j = 0; j < i; ++j) together[{i, j}] += counts[i] * counts[j];
    }
  }
  check_uniform(drawn);
  std::vector<double> pairs;
  for (const auto& [pair, count] : together) pairs.push_back(count);
  check_uniform(pairs);
  const auto all = counts_of(BagDraw({BagKind::without_replacement}, {n}, kSeed), 3);
  CHECK(all == std::vector<std::uint32_t>(n, 1));
  CHECK(counts_of(BagDraw({BagKind::all}, {n}, kSeed), 3) == all);
}

TEST_CASE("a balanced bag draws as many rows of each class as the smallest has") {
  const std::size_t n = 400;
  const auto labels = three_classes(n);  // 250, 100, 50
  const BagDraw bags({BagKind::balanced_bootstrap}, {n, {}, labels}, kSeed);
  CHECK(bags.n_drawn() == 150);
  std::vector<std::vector<double>> drawn(3);
  std::vector<double> total(n);
  double left_out = 0.0;
  for (std::uint32_t tree = 0; tree < 4000; ++tree) {
    const auto counts = counts_of(bags, tree);
    std::vector<std::uint64_t> of_class(3);
    for (std::size_t i = 0; i < n; ++i) {
      of_class[labels[i]] += counts[i];
      total[i] += counts[i];
      left_out += labels[i] == 2 && counts[i] == 0;
    }
    REQUIRE(of_class == std::vector<std::uint64_t>(3, 50));
  }
  for (std::size_t i = 0; i < n; ++i) drawn[labels[i]].push_back(total[i]);
  for (const auto& of_class : drawn) check_uniform(of_class);
  CHECK(left_out / 200000.0 == doctest::Approx(std::pow(0.98, 50)).epsilon(0.02));
  const auto few = counts_of(BagDraw({BagKind::balanced_bootstrap, 4}, {n, {}, labels}, kSeed), 0);
  CHECK(sum_of(few) == 12);
}

TEST_CASE("a row of weight 0 is never drawn, and its place matters to no other") {
  const std::size_t n = 60;
  std::vector<double> weights(n, 2.0);
  std::vector<std::uint32_t> labels = three_classes(n), kept_labels;
  std::vector<RowIndex> kept;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 3 == 1) weights[i] = 0.0;
    if (weights[i] > 0.0) {
      kept.push_back(static_cast<RowIndex>(i));
      kept_labels.push_back(labels[i]);
    }
  }
  for (const auto kind : {BagKind::all, BagKind::bootstrap, BagKind::without_replacement,
                          BagKind::balanced_bootstrap}) {
    const Bag bag{kind, kind == BagKind::without_replacement ? 20 : -1};
    const BagDraw bags(bag, {n, weights, labels}, kSeed);
    const BagDraw alone(bag, {kept.size(), {}, kept_labels}, kSeed);
    CHECK(bags.rows() == kept);
    for (std::uint32_t tree = 0; tree < 50; ++tree) {
      const auto counts = counts_of(bags, tree);
      const auto expected = counts_of(alone, tree);
      REQUIRE(sum_of(counts) == sum_of(expected));
      for (std::size_t k = 0; k < kept.size(); ++k) REQUIRE(counts[kept[k]] == expected[k]);
    }
  }
}

TEST_CASE("bags of different trees and seeds are independent, those of the same are the same") {
  const std::size_t n = 5000;
  const BagDraw bags({BagKind::bootstrap}, {n}, kSeed);
  const BagDraw others({BagKind::bootstrap}, {n}, kSeed + 1);
  const auto correlation = [&](const auto& a, const auto& b) {  // each has mean 1
    double cross = 0.0, squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      cross += (a[i] - 1.0) * (b[i] - 1.0);
      squares += (a[i] - 1.0) * (a[i] - 1.0);
    }
    return cross / squares;
  };
  const double limit = 4.5 / std::sqrt(static_cast<double>(n));
  for (std::uint32_t tree = 0; tree < 30; ++tree) {
    const auto counts = counts_of(bags, tree);
    CHECK(counts == counts_of(BagDraw({BagKind::bootstrap}, {n}, kSeed), tree));
    CHECK(std::abs(correlation(counts, counts_of(bags, tree + 1))) < limit);
    CHECK(std::abs(correlation(counts, counts_of(others, tree))) < limit);
  }
}

TEST_CASE("bags that cannot be drawn are refused") {
  const std::vector<double> none(5, 0.0);
  CHECK_THROWS_AS(BagDraw({BagKind::bootstrap}, {5, none}, 0), Error);
  CHECK_THROWS_AS(BagDraw({BagKind::bootstrap, 0}, {5}, 0), Error);
  CHECK_THROWS_AS(BagDraw({BagKind::without_replacement, 6}, {5}, 0), Error);
  CHECK_THROWS_AS(BagDraw({BagKind::balanced_bootstrap}, {5}, 0), Error);
}

TEST_CASE("columns: so many, each as likely as any, with duplicates once") {
  const FeatureIndex p = 12;
  std::vector<double> drawn(p), number(4);
  for (std::uint32_t tree = 0; tree < 20000; ++tree) {
    const auto columns = draw_columns({4}, p, kSeed, tree);
    REQUIRE(columns.size() == 4);
    REQUIRE(std::set(columns.begin(), columns.end()).size() == 4);
    REQUIRE(std::is_sorted(columns.begin(), columns.end()));
    for (const auto column : columns) ++drawn[static_cast<std::size_t>(column)];
    const auto some = draw_columns({4, false, true}, p, kSeed, tree);
    ++number.at(some.size() - 1);
  }
  check_uniform(drawn);
  check_uniform(number);
  double distinct = 0.0;
  for (std::uint32_t tree = 0; tree < 20000; ++tree) {
    const auto columns = draw_columns({-1, true}, p, kSeed, tree);
    REQUIRE(std::set(columns.begin(), columns.end()).size() == columns.size());
    distinct += static_cast<double>(columns.size());
  }
  CHECK(distinct / (20000.0 * p) == doctest::Approx(1 - std::pow(11.0 / 12.0, 12)).epsilon(0.01));
  CHECK(draw_columns({}, 3, kSeed, 5) == std::vector<FeatureIndex>{0, 1, 2});
  CHECK_THROWS_AS(draw_columns({13}, p, kSeed, 0), Error);
  CHECK_THROWS_AS(draw_columns({0}, p, kSeed, 0), Error);
}

TEST_CASE(
    "labels: the share is switched, each class keeps its number, and P(j becomes i) is w P_i") {
  const std::size_t n = 800;
  const auto labels = three_classes(n);  // 500, 200, 100
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  const double differing = 1.0 - (25.0 + 4.0 + 1.0) / 64.0;
  for (const double share : {0.05, 0.3, differing}) {
    const LabelSwitch change({share}, rows, labels, kSeed);
    const std::size_t n_trees = 3000;
    std::vector<double> became(9), of_row(n);
    for (std::uint32_t tree = 0; tree < n_trees; ++tree) {
      std::vector<std::uint32_t> switched;
      change.labels(tree, switched);
      std::vector<std::uint64_t> of_class(3);
      for (std::size_t i = 0; i < n; ++i) {
        ++of_class[switched[i]];
        ++became[labels[i] * 3 + switched[i]];
        of_row[i] += switched[i] != labels[i];
      }
      REQUIRE(of_class == std::vector<std::uint64_t>{500, 200, 100});
    }
    const double all = static_cast<double>(n * n_trees);
    CHECK((became[1] + became[2] + became[3] + became[5] + became[6] + became[7]) / all ==
          doctest::Approx(share).epsilon(0.02));
    const double w = share / differing;
    const std::vector<double> part{5.0 / 8, 2.0 / 8, 1.0 / 8};
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double expected = i == j ? 1 - w * (1 - part[j]) : w * part[i];
        CHECK(became[j * 3 + i] / (all * part[j]) == doctest::Approx(expected).epsilon(0.05));
      }
    }
    for (std::uint32_t k = 0; k < 3 && share < 0.5; ++k) {  // no row more than others of its class
      std::vector<double> times;
      for (std::size_t i = 0; i < n; ++i) {
        if (labels[i] == k) times.push_back(of_row[i]);
      }
      const double mean =
          std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
      const double rate = mean / static_cast<double>(n_trees);
      const double spread = chi_square(times, mean) / static_cast<double>(times.size());
      CHECK(spread == doctest::Approx(1.0 - rate).epsilon(0.35));
    }
  }
}

TEST_CASE("labels, uniformly: every class loses the same share, to all others alike" *
          doctest::test_suite("one thread")) {
  const std::size_t n = 800;
  auto labels = three_classes(n);                 // 500, 200, 100
  for (auto& label : labels) label += label > 0;  // class 1 has no rows
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  for (const double share : {0.05, 0.3, 0.66}) {
    const LabelSwitch change({share, SwitchScheme::uniform}, rows, labels, kSeed);
    const std::size_t n_trees = 3000;
    std::vector<double> became(16), of_row(n);
    for (std::uint32_t tree = 0; tree < n_trees; ++tree) {
      std::vector<std::uint32_t> switched;
      change.labels(tree, switched);
      double others = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        ++became[labels[i] * 4 + switched[i]];
        of_row[i] += switched[i] != labels[i];
        others += switched[i] != labels[i];
      }
      REQUIRE(others == std::round(share * static_cast<double>(n)));
    }
    const std::vector<double> size{500, 0, 200, 100};
    for (const std::size_t j : {0u, 2u, 3u}) {
      CHECK(became[j * 4 + 1] == 0.0);
      for (const std::size_t i : {0u, 2u, 3u}) {
        const double expected = i == j ? 1.0 - share : share / 2.0;
        CHECK(became[j * 4 + i] / (size[j] * n_trees) == doctest::Approx(expected).epsilon(0.05));
      }
    }
    const double mean = share * static_cast<double>(n_trees);  // of all classes alike
    CHECK(chi_square(of_row, mean) / static_cast<double>(n) ==
          doctest::Approx(1.0 - share).epsilon(0.35));
  }
  const Switching too_much{1.0, SwitchScheme::uniform}, some{0.2, SwitchScheme::uniform};
  CHECK_THROWS_AS(LabelSwitch(too_much, rows, labels, kSeed), Error);
  labels.assign(n, 2);
  CHECK_THROWS_AS(LabelSwitch(some, rows, labels, kSeed), Error);
}

TEST_CASE("labels of rows that take no part stay, and too large a share is refused") {
  const auto labels = three_classes(80);
  const std::vector<RowIndex> rows{0, 1, 5, 6, 7, 13};
  const LabelSwitch change({0.5}, rows, labels, kSeed);
  std::vector<std::uint32_t> switched;
  bool any = false;
  for (std::uint32_t tree = 0; tree < 20; ++tree) {
    change.labels(tree, switched);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (std::find(rows.begin(), rows.end(), i) == rows.end()) REQUIRE(switched[i] == labels[i]);
      any |= switched[i] != labels[i];
    }
  }
  CHECK(any);
  LabelSwitch({0.0}, rows, labels, kSeed).labels(0, switched);
  CHECK(switched == labels);
  CHECK_THROWS_AS(LabelSwitch({0.9}, rows, labels, kSeed), Error);
  CHECK_THROWS_AS(LabelSwitch({std::numeric_limits<double>::quiet_NaN()}, rows, labels, kSeed),
                  Error);
}

}  // namespace arboleda
