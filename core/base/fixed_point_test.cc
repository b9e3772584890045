#include "base/fixed_point.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/log2.h"

namespace arboleda {

TEST_CASE("a dropped row does not set the scale of the targets") {
  const std::vector<double> y{1, 2, 1e300};
  CHECK(fix_targets(y, {false, false, true}, 40).shift ==
        fix_targets(std::vector<double>{1, 2}, {}, 40).shift);
  CHECK_THROWS_AS(fix_targets(y, {true, true, true}, 40), Error);
}

TEST_CASE("targets come back within one unit; integers exactly") {
  const std::vector<double> y{145000, 899, 12999, 1500};
  const FixedTargets fixed = fix_targets(y, {}, 44);
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(fixed.to_real(static_cast<double>(fixed.value[i])) == y[i]);
    CHECK(std::abs(fixed.value[i]) <= std::int64_t{1} << 44);
  }
  const std::vector<double> z{0.1, -7.3, 1e-9, 3.14159};
  const FixedTargets real = fix_targets(z, {}, 44);
  for (std::size_t i = 0; i < z.size(); ++i) {
    CHECK(std::abs(real.to_real(static_cast<double>(real.value[i])) - z[i]) <=
          std::ldexp(1, -real.shift));
  }
}

TEST_CASE("amounts are fixed about 0; invalid ones are refused") {
  const std::vector<double> y{0.0, 3.5, 1e-3, 7.0};
  const FixedTargets fixed = fix_amounts(y, {}, 44);
  CHECK(fixed.centre == 0.0);
  CHECK(fixed.value[0] == 0);
  CHECK(fixed.value[3] == 2 * fixed.value[1]);
  for (const auto value : fixed.value) CHECK(value <= std::int64_t{1} << 44);
  CHECK_THROWS_AS(fix_amounts(std::vector<double>{1.0, -1e-300}, {}, 44), Error);
  CHECK_THROWS_AS(fix_amounts(std::vector<double>{0.0, 0.0}, {}, 44), Error);
  CHECK_THROWS_AS(fix_amounts(std::vector<double>{0.0, 1.0}, {false, true}, 44), Error);
}

TEST_CASE("targets at the edges of float64 stay finite") {
  const std::vector<double> y{-1.7e308, 1.7e308, 0.0};
  const FixedTargets fixed = fix_targets(y, {}, 60);
  CHECK(fixed.to_real(static_cast<double>(fixed.value[1])) == doctest::Approx(1.7e308));
  const FixedTargets tiny = fix_targets(std::vector<double>{5e-324, 1e-323}, {}, 60);
  CHECK(tiny.value[0] < tiny.value[1]);
  const FixedTargets constant = fix_targets(std::vector<double>{3.3, 3.3}, {}, 60);
  CHECK(constant.value == std::vector<std::int64_t>{0, 0});
  CHECK(constant.to_real(0) == 3.3);
}

TEST_CASE("stable_log2 agrees with the library to two units in the last place") {
  for (int i = 1; i < 20000; ++i) {
    const double x = i * 0.37 + i * i * 1e-3;
    const double expected = std::log2(x);
    CHECK(std::abs(stable_log2(x) - expected) <= 2 * std::abs(expected) * 0x1p-52 + 0x1p-54);
  }
  for (int e = -1000; e <= 1000; e += 10) CHECK(stable_log2(std::ldexp(1.0, e)) == e);
  CHECK(xlog2x(0.0) == 0.0);
}

}  // namespace arboleda
