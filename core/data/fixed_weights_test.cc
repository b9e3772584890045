#include "data/fixed_weights.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/fixed_point.h"
#include "base/thread_shards.h"

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

TEST_CASE("weights in several places are fixed as together") {
  // Equal, of one measure that single parts do not show, rounded, and rounded with zeros.
  std::vector<std::vector<double>> tables(4);
  for (int i = 0; i < 200; ++i) {
    tables[0].push_back(0.7);
    tables[1].push_back(i < 100 ? 1.5 : 0.7 * 1.5 * (i % 4));
    tables[2].push_back(std::exp(std::sin(i)));
    tables[3].push_back(i % 9 == 4 ? 0.0 : i % 2 == 0 ? 1e-30 : std::sqrt(i));
  }
  for (const auto& weights : tables) {
    const FixedWeights whole = fix_weights(weights, weights.size(), 62);
    for (const auto& bounds : std::vector<std::vector<std::size_t>>{
             {0, 90, 200}, {0, 1, 1, 200}, {0, 0, 7, 100, 101, 102, 200, 200}}) {
      std::vector<std::span<const double>> parts;
      for (std::size_t p = 1; p < bounds.size(); ++p) {
        parts.push_back(std::span(weights).subspan(bounds[p - 1], bounds[p] - bounds[p - 1]));
      }
      const auto fixed = fix_weights(parts, 62);
      for (std::size_t p = 0; p < parts.size(); ++p) {
        CHECK(fixed[p].total == whole.total);
        CHECK(fixed[p].unit == whole.unit);
        CHECK(fixed[p].is_unit() == (whole.is_unit() || parts[p].empty()));
        for (std::size_t i = 0; i < parts[p].size(); ++i) {
          CHECK(fixed[p].drops(i) == whole.drops(bounds[p] + i));
          if (!whole.is_unit()) CHECK(fixed[p].value[i] == whole.value[bounds[p] + i]);
        }
      }
    }
  }
}

TEST_CASE("weights of shards are fixed as together") {
  constexpr std::uint64_t kStarts[] = {0, 0, 7, 130};
  std::vector<std::vector<double>> tables(4);
  for (int i = 0; i < 200; ++i) {
    tables[0].push_back(0.7);
    tables[1].push_back(i < 130 ? 1.5 : 0.7 * 1.5 * (i % 4));
    tables[2].push_back(std::exp(std::sin(i)));
    tables[3].push_back(i < 7 ? 0.0 : i % 2 == 0 ? 1e-30 : std::sqrt(i));
  }
  for (const auto& weights : tables) {
    const FixedWeights whole = fix_weights(weights, weights.size(), 62);
    run_shards(kStarts, [&](const Shards& shards) {
      const std::size_t begin = shards.first_row();
      const std::size_t end = shards.number() < 3 ? kStarts[shards.number() + 1] : weights.size();
      const auto own = std::span(weights).subspan(begin, end - begin);
      const FixedWeights fixed = fix_weights(own, own.size(), 62, &shards);
      CHECK(fixed.total == whole.total);
      CHECK(fixed.unit == whole.unit);
      for (std::size_t i = 0; i < own.size(); ++i) {
        CHECK(fixed.drops(i) == whole.drops(begin + i));
        if (!whole.is_unit()) CHECK(fixed.value[i] == whole.value[begin + i]);
      }
    });
  }
  run_shards(kStarts, [](const Shards& shards) {
    CHECK(fix_weights({}, shards.number(), 62, &shards).total == 6);
  });
}

}  // namespace arboleda
