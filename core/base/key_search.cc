#include "base/key_search.h"

#include <algorithm>
#include <numeric>

#include "base/thread_pool.h"

namespace arboleda {

namespace {

// The digits of searches side by side.
constexpr int kByteBits = 8;
constexpr std::size_t kBytes = std::size_t{1} << kByteBits;

}  // namespace

std::size_t KeySearch::narrow(std::span<const std::uint64_t> sums) {
  std::size_t digit = 0;
  while (below_ + sums[digit] < goal_) below_ += sums[digit++];
  prefix_ |= (std::uint64_t{digit} << (64 - kDigitBits)) >> n_known_;
  n_known_ = std::min(n_known_ + kDigitBits, 64);
  at_ = sums[digit];
  return digit;
}

// By bisection: each half is found by a partial sort, and its weight is summed.
template <class Item>
KeyCut KeySearch::finish(std::span<Item> items) const {
  const auto precedes = [](const Item& a, const Item& b) { return a.key < b.key; };
  auto low = items.begin(), high = items.end();  // the item that reaches the goal is between them
  std::uint64_t before = below_;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, precedes);
    std::uint64_t half = 0;
    for (auto item = low; item != middle; ++item) half += item->weight;
    if (before + half >= goal_) {
      high = middle;
    } else {
      before += half;
      low = middle;
    }
  }
  KeyCut cut{low->key, below_, 0};
  for (const Item& item : items) {
    if (item.key < cut.key) cut.below += item.weight;
    if (item.key == cut.key) cut.at += item.weight;
  }
  return cut;
}

// Items of weight 1: the place is known.
template <>
KeyCut KeySearch::finish(std::span<UnitItem> items) const {
  const auto found = items.begin() + static_cast<std::ptrdiff_t>(goal_ - below_ - 1);
  std::nth_element(items.begin(), found, items.end(),
                   [](UnitItem a, UnitItem b) { return a.key < b.key; });
  KeyCut cut{found->key, below_, 0};
  for (const UnitItem& item : items) {
    cut.below += item.key < cut.key;
    cut.at += item.key == cut.key;
  }
  return cut;
}

std::vector<std::uint64_t> sum_digits(
    std::size_t n_places, int n_threads, const Shards* shards,
    const std::function<void(std::size_t, std::span<std::uint64_t>)>& add) {
  std::vector<std::vector<std::uint64_t>> sums(n_places);
  parallel_for(n_threads, n_places, [&](std::size_t place, int) {
    sums[place].assign(kDigits, 0);
    add(place, sums[place]);
  });
  for (std::size_t place = 1; place < n_places; ++place) {
    for (std::size_t d = 0; d < kDigits; ++d) sums[0][d] += sums[place][d];
  }
  add_all(shards, std::span(sums[0]));
  return std::move(sums[0]);
}

template <class Item>
KeyCut find_key(std::span<std::vector<Item>> places, KeySearch search, int n_threads,
                const Shards* shards) {
  const auto n_items = [&] {
    std::size_t n = 0;
    for (const auto& items : places) n += items.size();
    return n;
  };
  const auto add = [&](std::size_t place, std::span<std::uint64_t> sums) {
    for (const Item& item : places[place]) sums[search.digit(item.key)] += item.weight;
  };
  // How few items another shard has, this one does not know.
  while (!search.knows_all() && (shards != nullptr || n_items() > kFewItems)) {
    search.narrow(sum_digits(places.size(), n_threads, shards, add));
    parallel_for(n_threads, places.size(), [&](std::size_t place, int) {
      std::erase_if(places[place], [&](const Item& item) { return !search.holds(item.key); });
    });
  }
  if (search.knows_all()) return search.cut();
  std::vector<Item> items = std::move(places[0]);
  for (const auto& more : places.subspan(1)) items.insert(items.end(), more.begin(), more.end());
  return search.finish(std::span(items));
}

template KeyCut find_key(std::span<std::vector<UnitItem>>, KeySearch, int, const Shards*);
template KeyCut find_key(std::span<std::vector<WeightedItem>>, KeySearch, int, const Shards*);

std::vector<KeyCut> find_keys(std::span<std::vector<WeightedItem>> items,
                              std::span<const std::uint64_t> goals, const Shards& shards) {
  std::vector<KeyCut> cuts(items.size(), {0, 0, 0});
  std::vector<std::uint64_t> sums;
  for (int shift = 64 - kByteBits; shift >= 0; shift -= kByteBits) {
    const auto byte_of = [shift](std::uint64_t key) { return (key >> shift) % kBytes; };
    sums.assign(items.size() * kBytes, 0);
    for (std::size_t s = 0; s < items.size(); ++s) {
      for (const WeightedItem& item : items[s]) sums[s * kBytes + byte_of(item.key)] += item.weight;
    }
    shards.add(sums);
    for (std::size_t s = 0; s < items.size(); ++s) {
      if (goals[s] == 0) continue;
      const std::uint64_t* of_byte = &sums[s * kBytes];
      std::uint64_t byte = 0;
      while (cuts[s].below + of_byte[byte] < goals[s]) cuts[s].below += of_byte[byte++];
      cuts[s].key |= byte << shift;
      cuts[s].at = of_byte[byte];
      std::erase_if(items[s], [&](const WeightedItem& item) { return byte_of(item.key) != byte; });
    }
  }
  return cuts;
}

std::vector<KeyCutter> cut_places(const KeyCut& cut, std::uint64_t goal,
                                  std::span<const std::uint64_t> n_at, const Shards* shards) {
  std::vector<KeyCutter> cutters;
  std::uint64_t left = goal - cut.below;
  if (shards != nullptr) {
    const std::uint64_t own = std::accumulate(n_at.begin(), n_at.end(), std::uint64_t{0});
    const std::vector<std::uint64_t> of_shards = shards->gather(std::span(&own, 1));
    for (std::size_t s = 0; s < shards->number(); ++s) left -= std::min(of_shards[s], left);
  }
  for (const std::uint64_t n : n_at) {
    cutters.emplace_back(cut.key, std::min(n, left));
    left -= std::min(n, left);
  }
  return cutters;
}

}  // namespace arboleda
