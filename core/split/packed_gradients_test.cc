#include "split/packed_gradients.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

std::vector<RowIndex> all_rows(std::size_t n) {
  std::vector<RowIndex> rows(n);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  return rows;
}

}  // namespace

TEST_CASE("sums of integers are those of the reals, within half a unit a row") {
  const Context context(2);
  RandomStream random(6, Purpose::feature_subset, 0, 0);
  for (const std::size_t n : {1u, 2u, 1000u, 1023u, 1024u, 50000u}) {
    std::vector<double> gradient(n), hessian(n);
    for (std::size_t i = 0; i < n; ++i) {
      gradient[i] = random.uniform() - 0.5;
      hessian[i] = 0.1 + random.uniform();
    }
    PackedGradients packed;
    packed.pack(all_rows(n), {gradient, hessian}, context);
    const double g = std::accumulate(gradient.begin(), gradient.end(), 0.0);
    const double h = std::accumulate(hessian.begin(), hessian.end(), 0.0);
    const auto rows = static_cast<double>(n);
    CHECK(std::abs(static_cast<double>(packed.total().gradient) * packed.gradient_unit() - g) <=
          rows * packed.gradient_unit() / 2 + 1e-9);
    CHECK(std::abs(static_cast<double>(packed.total().hessian) * packed.hessian_unit() - h) <=
          rows * packed.hessian_unit() / 2 + 1e-9);
    CHECK(packed.fits_packed(n));
  }
}

TEST_CASE("no sum within the stated bounds overflows, at the very edge too") {
  const Context context(1);
  // All gradients at the largest magnitude, of one sign: the worst case.
  for (const std::size_t n : {1u, 3u, 4u, 127u, 128u, 1000u, 65535u, 65536u}) {
    for (const double largest : {1.0, 0.99, 3.0e-200, 5.0e200}) {
      const std::vector<double> gradient(n, -largest), hessian(n, largest);
      PackedGradients packed;
      packed.pack(all_rows(n), {gradient, hessian}, context);
      REQUIRE(packed.fits_packed(n));
      const std::int64_t limit = (std::int64_t{1} << kSumBits) - 1;
      CHECK(-packed.total().gradient <= limit);
      CHECK(packed.total().hessian <= limit);
      const double g = static_cast<double>(packed.total().gradient) * packed.gradient_unit();
      CHECK(g == doctest::Approx(-largest * static_cast<double>(n)).epsilon(0.01));
    }
  }
}

TEST_CASE("units do not depend on the number of rows from 2^20 on") {
  const Context context(2);
  double unit = 0.0;
  for (const std::size_t n : {1048575u, 1048576u, 2000000u}) {
    const std::vector<double> gradient(n, -1.0), hessian(n, 0.25);
    PackedGradients packed;
    packed.pack(all_rows(n), {gradient, hessian}, context);
    if (unit == 0.0) unit = packed.gradient_unit();
    CHECK(packed.gradient_unit() == unit);
    CHECK(packed.fits_packed(1048575));
    CHECK_FALSE(packed.fits_packed(1048576));
    CHECK(static_cast<double>(packed.total().gradient) * unit == -static_cast<double>(n));
  }
}

TEST_CASE("a heavy tail gets fine units, and large nodes wide cells") {
  const Context context(1);
  const std::size_t n = 20000;
  std::vector<double> gradient(n, 0.001);
  gradient[7] = 1000.0;
  PackedGradients packed;
  packed.pack(all_rows(n), {gradient, {}}, context);
  CHECK_FALSE(packed.fits_packed(n));
  CHECK(packed.fits_packed(1));
  // What a small gradient loses is far below it.
  CHECK(packed.gradient_unit() < 0.001 / 500);
  CHECK(packed.total().hessian == static_cast<std::int64_t>(n));
}

TEST_CASE("only the rows that take part count") {
  const Context context(2);
  std::vector<double> gradient(9000, 1.0);
  gradient[8999] = 1e300;
  std::vector<RowIndex> rows = all_rows(8999);
  PackedGradients packed;
  packed.pack(rows, {gradient, {}}, context);
  CHECK(static_cast<double>(packed.total().gradient) * packed.gradient_unit() == 8999.0);
  const std::vector<double> infinite(9000, INFINITY);
  CHECK_THROWS(packed.pack(rows, {infinite, {}}, context));
}

TEST_CASE("zeros are gradients too") {
  PackedGradients packed;
  const std::vector<double> zeros(100, 0.0);
  packed.pack(all_rows(100), {zeros, zeros}, Context());
  CHECK(packed.total().gradient == 0);
  CHECK(packed.total().hessian == 100);
}

}  // namespace arboleda
