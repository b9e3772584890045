#include "base/fixed_point.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/log2.h"

namespace arboleda {

TEST_CASE("equal weights are unit weights, whatever their size") {
  for (const double w : {1.0, 0.1, 3.0, 1e300, 5e-324}) {
    const FixedWeights fixed = fix_weights(std::vector<double>(10, w), 10, 62);
    CHECK(fixed.is_unit());
    CHECK(fixed.total == 10);
    CHECK(fixed.unit == doctest::Approx(w));
  }
}

TEST_CASE("integer weights stay the integers they are") {
  const FixedWeights fixed = fix_weights(std::vector<double>{3, 1, 2, 5}, 4, 62);
  CHECK(fixed.value == std::vector<std::uint64_t>{3, 1, 2, 5});
  CHECK(fixed.unit == 1.0);
  CHECK(fixed.total == 11);
}

TEST_CASE("a common factor changes the unit, not the integers") {
  const FixedWeights fixed = fix_weights(std::vector<double>{9, 3, 6, 15}, 4, 62);
  CHECK(fixed.value == std::vector<std::uint64_t>{3, 1, 2, 5});
  CHECK(fixed.unit == 3.0);
}

TEST_CASE("a dropped row does not set the scale of the targets") {
  const std::vector<double> y{1, 2, 1e300};
  CHECK(fix_targets(y, {false, false, true}, 40).shift ==
        fix_targets(std::vector<double>{1, 2}, {}, 40).shift);
  CHECK_THROWS_AS(fix_targets(y, {true, true, true}, 40), Error);
}

TEST_CASE("a power of two changes the unit, not the integers") {
  const std::vector<double> w{0.3, 1.7, 0.004, 12.5};
  std::vector<double> scaled = w;
  for (auto& x : scaled) x = std::ldexp(x, -37);
  const FixedWeights a = fix_weights(w, 4, 62);
  const FixedWeights b = fix_weights(scaled, 4, 62);
  CHECK(a.value == b.value);
  CHECK(a.unit == std::ldexp(b.unit, 37));
}

TEST_CASE("the total keeps within its bits and each weight within its error") {
  std::vector<double> w;
  for (int i = 1; i <= 1000; ++i) w.push_back(std::sin(i) * std::sin(i) + 1e-9);
  for (const int bits : {52, 62}) {
    const FixedWeights fixed = fix_weights(w, w.size(), bits);
    CHECK(bit_length(fixed.total) <= bits);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double back = static_cast<double>(fixed.value[i]) * fixed.unit;
      CHECK(std::abs(back - w[i]) <= fixed.unit / 2 + 1e-16);
    }
  }
}

TEST_CASE("rows of weight zero are dropped, also those too light to count") {
  const FixedWeights fixed = fix_weights(std::vector<double>{1, 0, 2, 1e-300}, 4, 62);
  CHECK(fixed.dropped == std::vector<bool>{false, true, false, true});
  const FixedWeights equal = fix_weights(std::vector<double>{0, 2, 2}, 3, 62);
  CHECK(equal.is_unit());
  CHECK(equal.total == 2);
  CHECK(equal.dropped == std::vector<bool>{true, false, false});
}

TEST_CASE("weights that cannot be are refused") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, inf, std::nan("")}) {
    CHECK_THROWS_AS(fix_weights(std::vector<double>{1, bad}, 2, 62), Error);
  }
  CHECK_THROWS_AS(fix_weights(std::vector<double>{0, 0}, 2, 62), Error);
  CHECK_THROWS_AS(fix_weights(std::vector<double>{1}, 2, 62), Error);
}

TEST_CASE("weights that are whole multiples of any number become those multiples") {
  for (const double unit : {1.0, 0.7, 0.1, 1e-300, 3e200, 5e-324}) {
    const FixedWeights fixed =
        fix_weights(std::vector<double>{3 * unit, 8 * unit, 0.0, 4 * unit, 1 * unit}, 5, 52);
    // 3 * 0.1 is not three times the double 0.1, but 2, 4 and 8 times it are exact.
    if (unit == 1.0 || unit == 5e-324) {
      CHECK(fixed.value == std::vector<std::uint64_t>{3, 8, 0, 4, 1});
    }
    const FixedWeights doubled = fix_weights(std::vector<double>{2 * unit, unit, 8 * unit}, 3, 52);
    CHECK(doubled.value == std::vector<std::uint64_t>{2, 1, 8});
    CHECK(doubled.total == 11);
    CHECK(doubled.unit == unit);
  }
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

TEST_CASE("amounts are fixed about 0; what is none is refused") {
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
