#include "bart/draws.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>
#include "simd/stable_math.h"

namespace arboleda {
namespace {

struct Moments {
  double mean = 0.0, variance = 0.0, smallest = 1e300;
};

Moments moments_of(int n, const std::function<double(QuickStream&)>& draw) {
  QuickStream stream(QuickStream::root(5, Purpose::bart_chain, 0), 0);
  double sum = 0.0, squares = 0.0;
  Moments found;
  for (int i = 0; i < n; ++i) {
    const double x = draw(stream);
    sum += x;
    squares += x * x;
    found.smallest = std::min(found.smallest, x);
  }
  found.mean = sum / n;
  found.variance = squares / n - found.mean * found.mean;
  return found;
}

TEST_CASE("Quantiles of the normal distribution invert it") {
  for (const double p : {1e-12, 1e-5, 0.01, 0.07, 0.3, 0.5, 0.8, 0.95, 1 - 1e-9}) {
    const double x = normal_quantile(p);
    CHECK(0.5 * std::erfc(-x / std::sqrt(2.0)) == doctest::Approx(p).epsilon(1e-13));
  }
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-15));
}

TEST_CASE("Draws have the moments of their distributions" * doctest::test_suite("one thread")) {
  const int n = 200'000;
  const Moments normal = moments_of(n, draw_normal);
  CHECK(std::abs(normal.mean) < 0.01);
  CHECK(normal.variance == doctest::Approx(1.0).epsilon(0.01));
  for (const double shape : {0.5, 1.0, 3.5, 500.0}) {
    const Moments gamma = moments_of(n, [&](QuickStream& s) { return draw_gamma(s, shape); });
    CHECK(gamma.mean == doctest::Approx(shape).epsilon(0.01));
    CHECK(gamma.variance == doctest::Approx(shape).epsilon(0.03));
  }
  for (const double low : {-3.0, -0.5, 0.0, 0.3, 2.0, 9.0}) {
    const Moments above = moments_of(n, [&](QuickStream& s) { return draw_normal_above(s, low); });
    const double density = std::exp(-0.5 * low * low) / std::sqrt(2.0 * std::acos(-1.0));
    const double mean = density / (0.5 * std::erfc(low / std::sqrt(2.0)));
    CHECK(above.smallest > low);
    CHECK(std::abs(above.mean - mean) < 0.01);
    CHECK(above.variance == doctest::Approx(1.0 + low * mean - mean * mean).epsilon(0.03));
  }
}

TEST_CASE("The logarithm of 0 is minus infinity, which rejects a move") {
  CHECK(stable_log(0.0) == -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace arboleda
