#include "base/key_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace arboleda {

namespace {

// Neighbours in n places of uneven sizes; the second of several is empty.
template <class Item>
std::vector<std::vector<Item>> places_of(const std::vector<Item>& items, std::size_t n) {
  std::vector<std::vector<Item>> places(n);
  for (std::size_t p = 0, begin = 0; p < n; ++p) {
    const std::size_t left = items.size() - begin;
    const std::size_t size = p + 1 == n ? left : p == 1 ? 0 : left / 3;
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
    places[p].assign(first, first + static_cast<std::ptrdiff_t>(size));
    begin += size;
  }
  return places;
}

// By sorting everything.
template <class Item>
KeyCut naive_cut(std::vector<Item> items, std::uint64_t goal) {
  std::sort(items.begin(), items.end(), [](auto& a, auto& b) { return a.key < b.key; });
  std::uint64_t sum = 0;
  KeyCut cut{};
  for (const Item& item : items) {
    if (sum < goal) cut.key = item.key;
    sum += item.weight;
  }
  for (const Item& item : items) {
    if (item.key < cut.key) cut.below += item.weight;
    if (item.key == cut.key) cut.at += item.weight;
  }
  return cut;
}

template <class Item>
void check_cuts(const std::vector<Item>& items) {
  std::uint64_t total = 0;
  for (const Item& item : items) total += item.weight;
  for (const std::uint64_t goal : {std::uint64_t{1}, total / 7 + 1, total / 2 + 1, total}) {
    const KeyCut naive = naive_cut(items, goal);
    for (const std::size_t n_places : {1, 2, 3, 7}) {
      auto places = places_of(items, n_places);
      const KeyCut cut =
          find_key(std::span(places), KeySearch(goal), n_places == 3 ? 2 : 1, nullptr);
      REQUIRE(cut.key == naive.key);
      REQUIRE(cut.below == naive.below);
      REQUIRE(cut.at == naive.at);
    }
  }
}

}  // namespace

TEST_SUITE("key search") {
  TEST_CASE("keys of any bits, and ties of more items than are searched at once") {
    RandomStream random(5, Purpose::random_split, 0, 0);
    for (const std::size_t n : {std::size_t{1}, std::size_t{50}, 20 * kFewItems}) {
      // Of few values, of neighbours in the last bits, of all bits.
      for (const int kind : {0, 1, 2}) {
        std::vector<UnitItem> items;
        std::vector<WeightedItem> weighted;
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint64_t few = random.below(3);
          const std::uint64_t key = kind == 0 ? few << 61 : kind == 1 ? few : scatter(i);
          items.push_back({key});
          weighted.push_back({key, 1 + (std::uint64_t{random.below(3)} << 40)});
        }
        check_cuts(items);
        check_cuts(weighted);
      }
    }
  }

  TEST_CASE("keys of doubles order as the doubles do") {
    const std::vector<double> x = {-1e300, -2.0, -1.5, -1e-310, 0.0, 1e-310, 3.0, 1e300};
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(number_of(search_key(x[i])) == x[i]);
      if (i > 0) CHECK(search_key(x[i - 1]) < search_key(x[i]));
    }
    CHECK(search_key(-0.0) == search_key(0.0));
  }

  TEST_CASE("ties go to the first places, in the order of their items") {
    const std::vector<std::uint64_t> n_at = {1, 0, 3, 2};
    auto cutters = cut_places({.key = 9, .below = 2, .at = 6}, 5, n_at, nullptr);
    REQUIRE(cutters.size() == 4);
    CHECK(cutters[0].takes(9));
    CHECK_FALSE(cutters[1].takes(9));
    CHECK(cutters[2].takes(9));
    CHECK(cutters[2].takes(8));
    CHECK(cutters[2].takes(9));
    CHECK_FALSE(cutters[2].takes(9));
    CHECK_FALSE(cutters[3].takes(9));
    CHECK(cutters[3].takes(0));
    CHECK_FALSE(cutters[3].takes(10));
  }
}

}  // namespace arboleda
