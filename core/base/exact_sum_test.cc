#include "base/exact_sum.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

// Signed numbers of very different sizes.
std::vector<double> mixed_numbers(std::size_t n, int lowest, int highest) {
  RandomStream random(5, Purpose::feature_subset, 0, 0);
  std::vector<double> x(n);
  const auto n_exponents = static_cast<std::uint32_t>(highest - lowest + 1);
  for (auto& v : x) {
    const double fraction = std::ldexp(static_cast<double>(random.next()), -32) - 0.5;
    v = std::ldexp(fraction, lowest + static_cast<int>(random.below(n_exponents)));
  }
  return x;
}

}  // namespace

TEST_CASE("a sum does not depend on the order or on how it is divided") {
  auto x = mixed_numbers(1000, -60, 60);
  const double sum = exact_sum(x);
  RandomStream random(6, Purpose::feature_subset, 0, 0);
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = x.size() - 1; i > 0; --i) {
      std::swap(x[i], x[random.below(static_cast<std::uint32_t>(i + 1))]);
    }
    CHECK(exact_sum(x) == sum);

    const std::size_t half = random.below(1000);
    Magnitude largest = magnitude_of(std::span(x).first(half));
    largest.see(magnitude_of(std::span(x).subspan(half)));
    const SumScale scale(largest);
    ExactSum parts[2];
    for (std::size_t i = 0; i < x.size(); ++i) parts[i < half].add(scale, x[i]);
    parts[0].add(parts[1]);
    CHECK(parts[0].to_real(scale) == sum);
  }
}

TEST_CASE("a sum is as near to the true one as it promises") {
  for (const int lowest : {-20, -60, -300, -1000}) {
    const auto x = mixed_numbers(10000, lowest, lowest + 40);
    long double truth = 0.0L;
    for (const double v : x) truth += static_cast<long double>(v);
    const double bound = 10000 * std::ldexp(magnitude_of(x).value(), -61);
    CHECK(std::abs(exact_sum(x) - static_cast<double>(truth)) <=
          bound + std::abs(static_cast<double>(truth)) * 0x1p-53);
  }
}

TEST_CASE("whole numbers add exactly") {
  std::vector<double> x(100000, 3.0);
  x.push_back(-299999.0);
  CHECK(exact_sum(x) == 1.0);
}

TEST_CASE("powers of two scale a sum exactly") {
  const auto x = mixed_numbers(1000, -40, 0);
  for (const int shift : {-900, -300, 300, 1000}) {
    std::vector<double> scaled;
    for (const double v : x) scaled.push_back(std::ldexp(v, shift));
    CHECK(exact_sum(scaled) == std::ldexp(exact_sum(x), shift));
  }
}

TEST_CASE("sums of nothing, of zeros, of the largest and of the smallest") {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  CHECK(exact_sum({}) == 0.0);
  CHECK(exact_sum(std::vector{0.0, -0.0}) == 0.0);
  CHECK(exact_sum(std::vector{kMax, kMax, -kMax}) == kMax);
  CHECK(exact_sum(std::vector{kTiny, kTiny, kTiny}) == 3 * kTiny);
  CHECK(exact_sum(std::vector{kMax, kMax}) == std::numeric_limits<double>::infinity());
}

TEST_CASE("what is no number is not hidden, wherever it stands") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  for (const double bad : {kInf, -kInf, nan, -nan}) {
    CHECK(std::isnan(exact_sum(std::vector{bad, 1.0, 2.0})));
    CHECK(std::isnan(exact_sum(std::vector{1.0, bad, 2.0})));
    CHECK(std::isnan(exact_sum(std::vector{1.0, 2.0, bad})));
  }
}

}  // namespace arboleda
