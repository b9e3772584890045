#include "base/ordered_key.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = std::numeric_limits<double>::max();

}  // namespace

TEST_CASE("keys are in the order of the numbers, and back") {
  const std::vector<double> ascending{-std::numeric_limits<double>::infinity(),
                                      -kHuge,
                                      -1.5,
                                      -1,
                                      -std::numeric_limits<double>::denorm_min(),
                                      0.0,
                                      1e-300,
                                      2,
                                      kHuge,
                                      std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    CHECK(value_of_key(ordered_key(ascending[i])) == ascending[i]);
    const auto narrow = static_cast<float>(ascending[i]);
    CHECK(value_of_key(ordered_key(narrow)) == static_cast<double>(narrow));
    if (i > 0) CHECK(ordered_key(ascending[i - 1]) < ordered_key(ascending[i]));
  }
  CHECK(ordered_key(-0.0) == ordered_key(0.0));
  CHECK(ordered_key(-0.0f) == ordered_key(0.0f));
  CHECK(ordered_key(-kNaN) == kMissingKey<std::int64_t>);
  CHECK(ordered_key(-std::numeric_limits<float>::quiet_NaN()) == kMissingKey<std::int32_t>);
}

TEST_CASE("every level makes the keys of the definition and counts the cuts below them") {
  RandomStream random(26, Purpose::feature_subset, 0, 0);
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (const std::size_t n : {0u, 1u, 15u, 64u, 65u, 200u, 513u}) {
      std::vector<std::int32_t> bits(n), keys(n);
      std::vector<std::int64_t> bits_64(n), keys_64(n);
      for (std::size_t i = 0; i < n; ++i) {
        bits[i] = i % 7 == 0 ? INT32_MIN : std::bit_cast<std::int32_t>(random.next());
        if (i % 7 == 1) bits[i] |= 0x7FC00000;  // NaN of either sign
        bits_64[i] = std::bit_cast<std::int64_t>(
            std::bit_cast<double>(std::uint64_t{random.next()} << 32 | random.next()));
        if (i % 7 == 0) bits_64[i] = INT64_MIN;
        if (i % 7 == 1) bits_64[i] |= 0x7FF8000000000000;
      }
      level->binning.keys_32(bits.data(), n, keys.data());
      level->binning.keys_64(bits_64.data(), n, keys_64.data());
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE(keys[i] == ordered_key(std::bit_cast<float>(bits[i])));
        REQUIRE(keys_64[i] == ordered_key(std::bit_cast<double>(bits_64[i])));
      }
      for (const std::size_t n_cuts : {0u, 1u, 3u, 255u, 1023u}) {
        std::vector<std::int32_t> cuts(n_cuts);
        std::vector<std::int64_t> cuts_64(n_cuts);
        for (std::size_t c = 0; c < n_cuts; ++c) {
          cuts[c] = c % 3 == 0 && n > 0 ? keys[c % n] : std::bit_cast<std::int32_t>(random.next());
          cuts_64[c] = c % 3 == 0 && n > 0 ? keys_64[c % n] : std::int64_t{cuts[c]} << 32;
        }
        std::sort(cuts.begin(), cuts.end());
        std::sort(cuts_64.begin(), cuts_64.end());
        std::vector<Code> out(n + 1, 77), out_64(n + 1, 77);
        level->binning.count_below_32(keys.data(), n, cuts.data(), n_cuts, out.data());
        level->binning.count_below_64(keys_64.data(), n, cuts_64.data(), n_cuts, out_64.data());
        for (std::size_t i = 0; i < n; ++i) {
          REQUIRE(out[i] == std::lower_bound(cuts.begin(), cuts.end(), keys[i]) - cuts.begin());
          REQUIRE(out_64[i] ==
                  std::lower_bound(cuts_64.begin(), cuts_64.end(), keys_64[i]) - cuts_64.begin());
        }
        CHECK(out[n] == 77);
        CHECK(out_64[n] == 77);
      }
    }
  }
}

}  // namespace arboleda
