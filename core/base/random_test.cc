#include "base/random.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace arboleda {

TEST_CASE("Philox gives the known answers of its reference distribution") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t f = 0xffffffff;
  CHECK(philox4x32({f, f, f, f}, {f, f}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream depends on seed, tree and node, and repeats itself") {
  std::set<std::uint32_t> firsts;
  for (std::uint64_t seed : {0, 1}) {
    for (std::uint32_t tree : {0, 1}) {
      for (std::uint64_t node : {0, 1}) {
        RandomStream a(seed, Purpose::feature_subset, tree, node);
        RandomStream b(seed, Purpose::feature_subset, tree, node);
        for (int i = 0; i < 9; ++i) CHECK(a.next() == b.next());
        firsts.insert(RandomStream(seed, Purpose::feature_subset, tree, node).next());
      }
    }
  }
  CHECK(firsts.size() == 8);
}

TEST_CASE("below() is uniform: chi-squared over 6 faces stays under its 99.9 % point") {
  RandomStream random(7, Purpose::feature_subset, 0, 0);
  constexpr int n = 60000;
  int counts[6] = {};
  for (int i = 0; i < n; ++i) ++counts[random.below(6)];
  double chi2 = 0;
  for (const int c : counts) chi2 += (c - n / 6.0) * (c - n / 6.0) / (n / 6.0);
  CHECK(chi2 < 20.5);
}

TEST_CASE("child keys of all paths to depth 12 differ") {
  std::set<std::uint64_t> keys{0};
  std::vector<std::uint64_t> level{0};
  std::size_t n = 1;
  for (int depth = 0; depth < 12; ++depth) {
    std::vector<std::uint64_t> next;
    for (const auto key : level) {
      for (const bool left : {true, false}) next.push_back(child_key(key, left));
    }
    keys.insert(next.begin(), next.end());
    n += next.size();
    level = next;
  }
  CHECK(keys.size() == n);
}

// Noted numbers: tests/common/test_row_words.py has the same.
TEST_CASE("words of rows are those of SplitMix64 from a scattered root") {
  const RowWords words(17, Purpose::fold, 0);
  CHECK(words(0) == 4320831212805362530ULL);
  CHECK(words(4) == 18042285788461210165ULL);
  const std::uint64_t root = QuickStream::root(17, Purpose::fold, 0);
  std::uint64_t state = root;
  for (std::uint64_t row = 0; row < 5; ++row, state += 0x9E3779B97F4A7C15ULL) {
    CHECK(words(row) == scatter(state));
  }
}

}  // namespace arboleda
