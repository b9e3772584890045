#include "learn/gradient_threshold.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

constexpr std::size_t kRows = 3000;

SquaredDerivatives squares_between(std::span<const double> gradient,
                                   std::span<const double> hessian, std::size_t begin,
                                   std::size_t end) {
  std::vector<RowIndex> rows(end - begin);
  std::iota(rows.begin(), rows.end(), static_cast<RowIndex>(begin));
  return squared_derivatives(rows, gradient, hessian, kRows);
}

}  // namespace

TEST_CASE("probabilities add up to the wanted rows, the same from any parts") {
  RandomStream random(4, Purpose::random_split, 0, 0);
  std::vector<double> gradient(2 * kRows), hessian(2 * kRows);  // two outputs
  for (auto& g : gradient) g = std::pow(2.0 * random.uniform() - 1.0, 5.0);
  for (auto& h : hessian) h = random.uniform();
  const auto whole = squares_between(gradient, hessian, 0, kRows);
  const auto [lambda, mu] = find_gradient_threshold(std::span(&whole, 1), 0.3);

  double g = 0.0, h = 0.0;
  for (const double x : gradient) g += x * x;
  for (const double x : hessian) h += x * x;
  CHECK(lambda == doctest::Approx(0.1 * g / h));
  double sum = 0.0;
  std::size_t n_certain = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    const double size = std::sqrt(whole.gradient[i] + lambda * whole.hessian[i]);
    sum += std::min(1.0, size / mu);
    n_certain += size >= mu;
  }
  CHECK(sum == doctest::Approx(0.3 * kRows));
  CHECK(n_certain > 0);

  for (const std::size_t n_parts : {2, 3, 7}) {
    std::vector<SquaredDerivatives> parts;
    for (std::size_t p = 0, begin = 0; p < n_parts; ++p) {
      const std::size_t end = p + 1 == n_parts ? kRows : p == 1 ? begin : begin + kRows / 9;
      parts.push_back(squares_between(gradient, hessian, begin, end));
      begin = end;
    }
    const auto found = find_gradient_threshold(parts, 0.3);
    CHECK(found.lambda == lambda);
    CHECK(found.mu == mu);
  }
}

TEST_CASE("rows that are looked at are the same from any part") {
  const std::size_t n = 300'000;
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  const auto whole = rows_in_runs(rows, 0, n);
  CHECK(whole.size() > 32'000);
  CHECK(whole.size() < 36'000);
  CHECK(rows_in_runs(std::span(rows).first(60'000), 0, 60'000).size() == 60'000);
  const std::size_t first = 100'003;
  auto both = rows_in_runs(std::span(rows).first(first), 0, n);
  for (const RowIndex row : rows_in_runs(std::span(rows).first(n - first), first, n)) {
    both.push_back(static_cast<RowIndex>(first + row));
  }
  CHECK(both == whole);
}

TEST_CASE("no row is certain where all sizes are 0 or one is no number") {
  for (const double odd : {0.0, std::nan(""), 1e200}) {
    const SquaredDerivatives some{{0.0, odd * odd}, {0.0, 0.0}};
    CHECK(std::isinf(find_gradient_threshold(std::span(&some, 1), 0.5).mu));
  }
}

}  // namespace arboleda
