// Every rule against its definition, written naively, on random members; and on the edges.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "combine/choices.h"
#include "combine/means.h"
#include "combine/order_statistics.h"

namespace arboleda {

namespace {

constexpr std::size_t kRows = 1543, kClasses = 3;  // no multiple of a block or of a register

struct Table {
  std::vector<std::vector<double>> outputs;

  // Probabilities, some of them 0 and some rows alike.
  Table(std::size_t n_members, std::uint64_t seed) : outputs(n_members) {
    std::uint64_t state = seed;
    const auto next = [&] {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<double>(state >> 40U) / static_cast<double>(1U << 24U);
    };
    for (auto& rows : outputs) {
      for (std::size_t i = 0; i < kRows; ++i) {
        double p[kClasses];
        double sum = 0.0;
        for (double& x : p) {
          const double u = next();
          x = u < 0.2 ? 0.0 : std::floor(8.0 * u);
          sum += x;
        }
        if (sum == 0.0) sum = p[0] = 1.0;
        for (const double x : p) rows.push_back(x / sum);
      }
    }
  }

  Members members() const {
    Members found{{}, kRows, kClasses};
    for (const auto& rows : outputs) found.outputs.push_back(rows.data());
    return found;
  }

  // The outputs of all members for one cell.
  std::vector<double> cell(std::size_t i, std::size_t k) const {
    std::vector<double> values;
    for (const auto& rows : outputs) values.push_back(rows[i * kClasses + k]);
    return values;
  }

  std::size_t choice(std::size_t l, std::size_t i) const {
    const auto row = outputs[l].begin() + static_cast<std::ptrdiff_t>(i * kClasses);
    return static_cast<std::size_t>(std::max_element(row, row + kClasses) - row);
  }
};

void check_close(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance = 1e-13) {
  REQUIRE(found.size() == expected.size());
  double worst = 0.0;
  for (std::size_t c = 0; c < found.size(); ++c) {
    worst = std::max(worst, std::abs(found[c] - expected[c]));
  }
  CHECK(worst < tolerance);
}

// Shares of what `of_cell` makes of a cell; where all are 0, of the mean.
template <class OfCell>
std::vector<double> naive_shares(const Table& table, const OfCell& of_cell) {
  std::vector<double> out;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<double> row, mean;
    for (std::size_t k = 0; k < kClasses; ++k) {
      const auto values = table.cell(i, k);
      row.push_back(of_cell(values));
      mean.push_back(std::accumulate(values.begin(), values.end(), 0.0));
    }
    double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (sum == 0.0) row = mean, sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (const double x : row) out.push_back(x / sum);
  }
  return out;
}

double naive_trimmed(std::vector<double> values, std::size_t n_trimmed) {
  std::sort(values.begin(), values.end());
  const std::size_t end = values.size() - n_trimmed;
  double sum = 0.0;
  for (std::size_t l = n_trimmed; l < end; ++l) sum += values[l];
  return sum / static_cast<double>(end - n_trimmed);
}

}  // namespace

TEST_CASE("means of members are their definitions") {
  const Context context(2);
  for (const std::size_t n : {1U, 2U, 5U, 31U}) {
    const Table table(n, n);
    std::vector<double> weight(n);
    for (std::size_t l = 0; l < n; ++l) weight[l] = 0.5 + static_cast<double>(l % 3);
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    std::vector<double> mean, weighted;
    for (std::size_t c = 0; c < kRows * kClasses; ++c) {
      double sum = 0.0, weighted_sum = 0.0;
      for (std::size_t l = 0; l < n; ++l) {
        sum += table.outputs[l][c];
        weighted_sum += weight[l] * table.outputs[l][c];
      }
      mean.push_back(sum / static_cast<double>(n));
      weighted.push_back(weighted_sum / total);
    }
    check_close(mean_of_members(table.members(), {}, context), mean);
    check_close(mean_of_members(table.members(), weight, context), weighted);
    check_close(geometric_mean_of_members(table.members(), {}, context),
                naive_shares(table, [&](const std::vector<double>& values) {
                  double product = 1.0;
                  for (const double x : values) product *= std::pow(x, 1.0 / values.size());
                  return product;
                }));
  }
}

TEST_CASE("a geometric mean by weights, and one that no product of doubles could hold") {
  const Context context(1);
  const std::vector<double> a{0.9, 0.1}, b{0.2, 0.8};
  const Members two{{a.data(), b.data()}, 1, 2};
  const std::vector<double> weight{3.0, 1.0};
  const double first = std::pow(0.9, 0.75) * std::pow(0.2, 0.25);
  const double second = std::pow(0.1, 0.75) * std::pow(0.8, 0.25);
  check_close(geometric_mean_of_members(two, weight, context),
              {first / (first + second), second / (first + second)});
  const std::vector<double> tiny{1e-300, 2e-300};
  const Members many{std::vector<const double*>(40, tiny.data()), 1, 2};
  check_close(geometric_mean_of_members(many, {}, context), {1.0 / 3.0, 2.0 / 3.0}, 1e-12);
}

TEST_CASE("order statistics are their definitions") {
  const Context context(2);
  for (const std::size_t n : {1U, 2U, 3U, 4U, 7U, 16U, 30U, 33U, 100U}) {
    const Table table(n, 100 + n);
    const auto found = [&](OrderRule rule) {
      return order_statistic_of_members(table.members(), rule, context);
    };
    check_close(found({OrderStatistic::minimum}), naive_shares(table, [](auto& values) {
                  return *std::min_element(values.begin(), values.end());
                }));
    check_close(found({OrderStatistic::maximum}), naive_shares(table, [](auto& values) {
                  return *std::max_element(values.begin(), values.end());
                }));
    check_close(found({OrderStatistic::median}), naive_shares(table, [](auto& values) {
                  return naive_trimmed(values, (values.size() - 1) / 2);
                }));
    for (std::size_t trimmed = 0; 2 * trimmed < n; trimmed += 1 + n / 7) {
      check_close(found({OrderStatistic::trimmed, trimmed}), naive_shares(table, [&](auto& values) {
                    return naive_trimmed(values, trimmed);
                  }));
    }
    if (n > 1) CHECK_THROWS_AS(found({OrderStatistic::trimmed, (n + 1) / 2}), Error);
  }
}

TEST_CASE("votes and tables are their definitions, of probabilities and of choices") {
  const Context context(2);
  const std::size_t n = 6;
  const Table table(n, 3);
  const std::vector<double> weight{2.0, -0.5, 1.0, 0.25, 1.5, 3.0};
  std::vector<double> start{-1.0, -2.0, -0.5}, tables;
  for (std::size_t c = 0; c < n * kClasses * kClasses; ++c) {
    tables.push_back(-static_cast<double>((c * 7) % 11) / 4.0);
  }
  std::vector<std::vector<std::int32_t>> chosen(n, std::vector<std::int32_t>(kRows));
  std::vector<double> votes(kRows * kClasses), weighted = votes, sums, shares;
  for (std::size_t i = 0; i < kRows; ++i) {
    std::vector<double> row = start;
    for (std::size_t l = 0; l < n; ++l) {
      const std::size_t k = table.choice(l, i);
      chosen[l][i] = static_cast<std::int32_t>(k);
      votes[i * kClasses + k] += 1.0;
      weighted[i * kClasses + k] += weight[l];
      for (std::size_t g = 0; g < kClasses; ++g)
        row[g] += tables[(l * kClasses + k) * kClasses + g];
    }
    sums.insert(sums.end(), row.begin(), row.end());
    double total = 0.0;
    for (const double x : row) total += std::exp(x);
    for (const double x : row) shares.push_back(std::exp(x) / total);
  }
  Choices choices{{}, kRows, kClasses};
  for (const auto& rows : chosen) choices.chosen.push_back(rows.data());
  const ChoiceTables of{start, tables};
  const Members members = table.members();
  check_close(sum_votes(members, {}, VoteOutput::sums, context), votes);
  check_close(sum_votes(choices, {}, VoteOutput::sums, context), votes);
  check_close(sum_votes(members, weight, VoteOutput::sums, context), weighted);
  check_close(sum_votes(choices, weight, VoteOutput::sums, context), weighted);
  check_close(sum_tables(members, of, VoteOutput::sums, context), sums);
  check_close(sum_tables(choices, of, VoteOutput::sums, context), sums);
  check_close(sum_tables(choices, of, VoteOutput::softmax, context), shares);
  chosen[2][70] = 3;
  CHECK_THROWS_AS(sum_votes(choices, {}, VoteOutput::sums, context), Error);
  chosen[2][70] = -1;
  CHECK_THROWS_AS(sum_tables(choices, of, VoteOutput::sums, context), Error);
}

TEST_CASE("rules give the same bits with any number of threads") {
  const Table table(9, 5);
  const Members members = table.members();
  const Context one(1), many(4);
  CHECK(mean_of_members(members, {}, one) == mean_of_members(members, {}, many));
  CHECK(geometric_mean_of_members(members, {}, one) ==
        geometric_mean_of_members(members, {}, many));
  for (const auto statistic : {OrderStatistic::minimum, OrderStatistic::median}) {
    CHECK(order_statistic_of_members(members, {statistic}, one) ==
          order_statistic_of_members(members, {statistic}, many));
  }
  CHECK(sum_votes(members, {}, VoteOutput::softmax, one) ==
        sum_votes(members, {}, VoteOutput::softmax, many));
}

TEST_CASE("members that rule all classes out leave the row to their mean") {
  const Context context(1);
  const std::vector<double> a{1.0, 0.0, 0.0}, b{0.0, 1.0, 0.0}, c{0.0, 0.5, 0.5};
  const Members members{{a.data(), b.data(), c.data()}, 1, 3};
  const std::vector<double> mean{1.0 / 3.0, 0.5, 0.5 / 3.0};
  check_close(geometric_mean_of_members(members, {}, context), mean);
  check_close(order_statistic_of_members(members, {OrderStatistic::minimum}, context), mean);
  const std::vector<double> weight{2.0, 1.0, 1.0};
  check_close(geometric_mean_of_members(members, weight, context), {0.5, 0.375, 0.125});
}

}  // namespace arboleda
