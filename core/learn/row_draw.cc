#include "learn/row_draw.h"

#include <algorithm>
#include <vector>

#include "base/key_search.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// A row of the last digit that is drawn from.
struct Candidate {
  std::uint64_t word;
  std::size_t at;  // its place among the rows taken
};

// All rows up to a digit; those of the digit are candidates.
std::vector<Candidate> take_up_to(const PlaceRows& place, const RowWords& words, std::size_t last,
                                  DrawnRows& taken) {
  const KeySearch first_digits(1);
  std::vector<Candidate> candidates;
  taken.resize(place.rows.size());
  std::size_t n = 0;
  for (const RowIndex row : place.rows) {
    const std::uint64_t word = words(place.offset + row);
    const std::size_t digit = first_digits.digit(word);
    taken[n] = row;
    if (digit == last) candidates.push_back({word, n});
    n += digit <= last ? 1U : 0U;
  }
  taken.resize(n);
  return candidates;
}

void drop_beyond(KeyCutter cutter, const std::vector<Candidate>& candidates, DrawnRows& taken) {
  RowIndex* const rows = taken.data();
  std::size_t kept = 0, seen = 0;
  const auto keep_up_to = [&](std::size_t end) {
    if (kept != seen) std::copy(rows + seen, rows + end, rows + kept);
    kept += end - seen;
  };
  for (const Candidate& candidate : candidates) {
    if (cutter.takes(candidate.word)) continue;
    keep_up_to(candidate.at);
    seen = candidate.at + 1;
  }
  keep_up_to(taken.size());
  taken.resize(kept);
}

}  // namespace

void draw_smallest(std::span<const PlaceRows> places, std::size_t wanted, const RowWords& words,
                   int n_threads, const Shards* shards, std::span<DrawnRows> drawn) {
  for (DrawnRows& rows : drawn) rows.clear();
  if (wanted == 0) return;
  KeySearch search(wanted);
  const std::size_t last = search.narrow(sum_digits(
      places.size(), n_threads, shards, [&](std::size_t p, std::span<std::uint64_t> sums) {
        const KeySearch first_digits(1);
        for (const RowIndex row : places[p].rows) {
          ++sums[first_digits.digit(words(places[p].offset + row))];
        }
      }));
  std::vector<std::vector<Candidate>> candidates(places.size());
  std::vector<std::vector<UnitItem>> items(places.size());
  parallel_for(n_threads, places.size(), [&](std::size_t p, int) {
    candidates[p] = take_up_to(places[p], words, last, drawn[p]);
    for (const Candidate& candidate : candidates[p]) items[p].push_back({candidate.word});
  });
  const KeyCut cut = find_key(std::span(items), search, n_threads, shards);
  std::vector<std::uint64_t> n_at;
  for (const auto& of_place : candidates) {
    n_at.push_back(static_cast<std::uint64_t>(
        std::count_if(of_place.begin(), of_place.end(),
                      [&](const Candidate& candidate) { return candidate.word == cut.key; })));
  }
  const std::vector<KeyCutter> cutters = cut_places(cut, wanted, n_at, shards);
  parallel_for(n_threads, places.size(),
               [&](std::size_t p, int) { drop_beyond(cutters[p], candidates[p], drawn[p]); });
}

}  // namespace arboleda
