#include "simd/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

template <class T, class Gather>
void check_gather(const Gather& gather, std::size_t n, RandomStream& random) {
  std::vector<T> codes(2 * n + 1);
  for (auto& code : codes) code = static_cast<T>(random.next());
  std::vector<RowIndex> rows(n);
  for (auto& row : rows) row = random.below(static_cast<std::uint32_t>(codes.size()));
  std::vector<Code> out(n + 1, 7);
  gather(codes.data(), rows.data(), n, out.data());
  for (std::size_t i = 0; i < n; ++i) REQUIRE(out[i] == codes[rows[i]]);
  CHECK(out[n] == 7);
}

}  // namespace

TEST_CASE("every level gives what the definition gives") {
  RandomStream random(9, Purpose::feature_subset, 0, 0);
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    for (const std::size_t n : {1, 2, 3, 7, 8, 15, 16, 17, 63, 64, 65, 127, 200, 1000}) {
      check_gather<std::uint8_t>(level->gather_8, n, random);
      check_gather<std::uint16_t>(level->gather_16, n, random);
      check_gather<std::uint32_t>(level->gather_32, n, random);

      std::vector<Code> codes(n);
      Code differ = 0;
      for (auto& code : codes) {
        code = random.next();
        differ |= code ^ codes[0];
      }
      std::vector<std::uint64_t> keys(n);
      CHECK(level->make_keys(codes.data(), n, keys.data()) == differ);
      for (std::size_t i = 0; i < n; ++i) REQUIRE(keys[i] == (std::uint64_t{codes[i]} << 32 | i));

      std::vector<std::uint32_t> small(n + 15), rank(n + 15);
      for (auto& key : small)
        key = random.below(4) == 0 ? UINT32_MAX - random.below(3) : random.next();
      level->rank(small.data(), n, rank.data());
      for (std::size_t i = 0; i < n; ++i) {
        const auto below =
            std::count_if(small.begin(), small.begin() + static_cast<std::ptrdiff_t>(n),
                          [&](std::uint32_t key) { return key < small[i]; });
        REQUIRE(rank[i] == static_cast<std::uint32_t>(below));
      }

      std::vector<std::int64_t> x(n);
      for (auto& v : x) {
        v = static_cast<std::int64_t>(std::uint64_t{random.next()} << 32 | random.next());
      }
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      const MinMax m = level->min_max(x.data(), n);
      CHECK(m.min == *low);
      CHECK(m.max == *high);
      for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) {
        CHECK(level->find(x.data(), n, x[i]) == i);
      }
      CHECK(level->find(x.data(), n, *high + (*high < 0 ? 1 : -1)) == n);
    }
  }
}

TEST_CASE("the level is the widest, or the forced one") {
  const char* forced = std::getenv("ARBOLEDA_FORCE_SIMD");
  CHECK(kernels().level == (forced ? std::string_view(forced) : all_kernels().back()->level));
  CHECK(all_kernels().front()->level == "baseline");
}

}  // namespace arboleda
