#include "base/shards.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/key_search.h"
#include "base/random.h"
#include "base/thread_shards.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kStarts[] = {0, 3, 3, 10};  // the second has no rows

}  // namespace

TEST_CASE("shards share numbers in their order") {
  run_shards(kStarts, [](const Shards& shards) {
    const std::uint64_t own[] = {shards.number(), shards.first_row()};
    const std::vector<std::uint64_t> all = shards.gather(own);
    CHECK(all == std::vector<std::uint64_t>{0, 0, 1, 3, 2, 3, 3, 10});
    CHECK(sum_of_all(&shards, 2) == 8);
    CHECK(is_any(&shards, shards.number() == 2));
    CHECK_FALSE(is_any(&shards, false));
  });
  CHECK(sum_of_all(nullptr, 2) == 2);
  CHECK(first_row(nullptr) == 0);
}

TEST_CASE("shards join any numbers of values") {
  run_shards(kStarts, [](const Shards& shards) {
    const std::vector<std::uint64_t> own(shards.number() % 3, 10 + shards.number());
    CHECK(join_all(&shards, own) == std::vector<std::uint64_t>{11, 12, 12});
    CHECK(join_all(&shards, {}).empty());
  });
  CHECK(join_all(nullptr, {7, 5}) == std::vector<std::uint64_t>{7, 5});
}

TEST_CASE("sums of 128 bits of all shards carry and have signs") {
  const Int128 large = (Int128{1} << 125) - 1;
  run_shards(kStarts, [&](const Shards& shards) {
    const bool is_first = shards.number() == 0;
    std::vector<ExactSum> sums{ExactSum(large), ExactSum(is_first ? -large : large / 2),
                               ExactSum(is_first ? Int128{-7} : Int128{2})};
    add_all(&shards, std::span(sums));
    CHECK((sums[0].units() >> 1) == 2 * large);  // 4 large < 2^127
    CHECK(sums[1].units() == -large + 3 * (large / 2));
    CHECK(sums[2].units() == -1);
  });
}

TEST_CASE("the exact sum of shards is that of all numbers") {
  std::vector<double> x;
  QuickStream random(1, 2);
  for (int i = 0; i < 12; ++i) x.push_back(std::ldexp(random.uniform() - 0.5, i * 4));
  const double whole = exact_sum(x);
  CHECK(exact_sum(nullptr, x) == whole);
  run_shards(kStarts, [&](const Shards& shards) {
    const std::size_t begin = shards.first_row();
    const std::size_t end = shards.number() < 3 ? kStarts[shards.number() + 1] : x.size();
    CHECK(exact_sum(&shards, std::span(x).subspan(begin, end - begin)) == whole);
  });
}

TEST_CASE("searches side by side find what each alone finds") {
  constexpr std::size_t kSearches = 5;
  QuickStream random(3, 4);
  std::vector<std::vector<WeightedItem>> whole(kSearches);
  std::vector<std::uint64_t> goals(kSearches);
  for (std::size_t s = 0; s + 1 < kSearches; ++s) {  // the last has no items
    for (std::size_t i = 0; i < 200 * s + 1; ++i) {
      const double x = std::floor(random.uniform() * 50.0 * static_cast<double>(s + 1)) - 20.0;
      whole[s].push_back({search_key(x), random.below(5)});
      goals[s] += whole[s].back().weight;
    }
    goals[s] = (goals[s] + 1) / 2;
  }
  run_shards(kStarts, [&](const Shards& shards) {
    std::vector<std::vector<WeightedItem>> own(kSearches);
    for (std::size_t s = 0; s < kSearches; ++s) {
      for (std::size_t i = shards.number(); i < whole[s].size(); i += 4) {
        own[s].push_back(whole[s][i]);
      }
    }
    const std::vector<KeyCut> cuts = find_keys(own, goals, shards);
    for (std::size_t s = 0; s < kSearches; ++s) {
      if (goals[s] == 0) continue;
      std::vector<std::vector<WeightedItem>> alone{whole[s]};
      const KeyCut expected = find_key(std::span(alone), KeySearch(goals[s]), 1, nullptr);
      CHECK(cuts[s].key == expected.key);
      CHECK(cuts[s].below == expected.below);
      CHECK(cuts[s].at == expected.at);
    }
  });
}

}  // namespace arboleda
