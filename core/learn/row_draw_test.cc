#include "learn/row_draw.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace arboleda {

namespace {

std::vector<RowIndex> drawn_rows(const std::vector<PlaceRows>& places, std::size_t wanted,
                                 const RowWords& words, int n_threads = 1) {
  std::vector<DrawnRows> drawn(places.size());
  draw_smallest(places, wanted, words, n_threads, nullptr, drawn);
  std::vector<RowIndex> rows;
  for (std::size_t p = 0; p < places.size(); ++p) {
    for (const RowIndex row : drawn[p]) {
      rows.push_back(static_cast<RowIndex>(places[p].offset + row));
    }
  }
  return rows;
}

std::vector<RowIndex> naive_draw(const std::vector<RowIndex>& rows, std::size_t wanted,
                                 const RowWords& words) {
  std::vector<std::pair<std::uint64_t, RowIndex>> keyed;
  for (const RowIndex row : rows) keyed.emplace_back(words(row), row);
  std::sort(keyed.begin(), keyed.end());
  std::vector<RowIndex> drawn;
  for (std::size_t i = 0; i < wanted; ++i) drawn.push_back(keyed[i].second);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

TEST_CASE("rows of the smallest words, wherever they lie") {
  const std::size_t n = 30'000;
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < n; ++row) {
    if (row % 3 != 1) rows.push_back(row);
  }
  const RowWords words(5, Purpose::row_sample, 2);
  for (const std::size_t wanted :
       {std::size_t{0}, std::size_t{1}, std::size_t{7001}, rows.size()}) {
    const auto naive = naive_draw(rows, wanted, words);
    REQUIRE(drawn_rows({{rows}}, wanted, words) == naive);
    // Parts of uneven lengths, whose rows are counted from their own first; the second of several is empty.
    for (const std::size_t n_places : {2, 3, 7}) {
      std::vector<std::vector<RowIndex>> own(n_places);
      std::vector<PlaceRows> places;
      for (std::size_t p = 0, begin = 0; p < n_places; ++p) {
        const std::size_t end = p + 1 == n_places ? n : p == 1 ? begin : begin + (n - begin) / 4;
        for (const RowIndex row : rows) {
          if (row >= begin && row < end) own[p].push_back(static_cast<RowIndex>(row - begin));
        }
        places.push_back({own[p], begin});
        begin = end;
      }
      REQUIRE(drawn_rows(places, wanted, words, n_places == 3 ? 2 : 1) == naive);
    }
  }
}

TEST_CASE("rows beyond 32 bits have words of their own") {
  const std::vector<RowIndex> rows = {0, 1, 2, 3, 4, 5, 6, 7};
  const RowWords words(5, Purpose::row_sample, 0);
  CHECK(words(std::uint64_t{1} << 32) != words(0));
  std::vector<DrawnRows> drawn(2);
  const std::vector<PlaceRows> places = {{rows, 0}, {rows, std::uint64_t{1} << 32}};
  std::size_t in_first = 0;
  for (std::uint32_t round = 0; round < 200; ++round) {
    draw_smallest(places, 5, RowWords(5, Purpose::row_sample, round), 1, nullptr, drawn);
    REQUIRE(drawn[0].size() + drawn[1].size() == 5);
    in_first += drawn[0].size();
  }
  CHECK(in_first > 400);  // 500 are expected, with a deviation of 13
  CHECK(in_first < 600);
}

}  // namespace arboleda
