#include "data/pair_sorter.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace arboleda {

namespace {

// Very few keys are sorted by insertion, few by rank (for each, how many are smaller), and more by
// counting sort on bytes.
constexpr std::size_t kInserted = 6;
constexpr std::size_t kRanked = 96;
constexpr std::size_t kFew = 48;  // of too many bits to be ranked

// Bits for the places of ranked keys.
constexpr int kPlaceBits = 7;
static_assert(kRanked <= std::size_t{1} << kPlaceBits);

// More keys than this are sorted in place.
constexpr std::size_t kBuffered = std::size_t{1} << 16;

void insertion_sort(std::span<std::uint64_t> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const std::uint64_t key = keys[i];
    std::size_t j = i;
    for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

std::size_t digit(std::uint64_t key, int shift) { return (key >> shift) & 0xFF; }

// Moves keys to their buckets; returns where each bucket ends.
std::array<std::size_t, 256> deal(std::span<std::uint64_t> keys, int shift) {
  std::array<std::size_t, 256> next{};
  std::array<std::size_t, 256> end{};
  for (const auto key : keys) ++end[digit(key, shift)];
  std::size_t sum = 0;
  for (std::size_t d = 0; d < 256; ++d) {
    next[d] = sum;
    sum += end[d];
    end[d] = sum;
  }
  for (std::size_t d = 0; d < 256; ++d) {
    while (next[d] < end[d]) {
      std::uint64_t key = keys[next[d]];
      for (std::size_t to = digit(key, shift); to != d; to = digit(key, shift)) {
        std::swap(key, keys[next[to]++]);
      }
      keys[next[d]++] = key;
    }
  }
  return end;
}

}  // namespace

void PairSorter::sort(std::span<std::uint64_t> keys, std::uint32_t differ) {
  const int n_bytes = (static_cast<int>(std::bit_width(differ)) + 7) / 8;
  if (n_bytes == 0) return;
  if (keys.size() > kInserted && keys.size() <= kRanked &&
      static_cast<int>(std::bit_width(differ)) + kPlaceBits <= 32) {
    by_ranks(keys);
  } else {
    sort_from(keys, 24 + 8 * n_bytes);
  }
}

// Ties are broken by place, so that every key has a rank of its own.
void PairSorter::by_ranks(std::span<std::uint64_t> keys) {
  std::array<std::uint32_t, kRanked> small{}, rank;
  std::array<std::uint64_t, kRanked> unsorted;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    unsorted[i] = keys[i];
    small[i] = static_cast<std::uint32_t>(keys[i] >> 32) << kPlaceBits | i;
  }
  kernels_.rank(small.data(), keys.size(), rank.data());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[rank[i]] = unsorted[i];
}

// The bytes above the one at `shift` are the same in all keys.
void PairSorter::sort_from(std::span<std::uint64_t> keys, int shift) {
  if (keys.size() <= kFew) return insertion_sort(keys);
  if (keys.size() <= kBuffered) return by_counting(keys, shift);
  std::size_t begin = 0;
  for (const std::size_t end : deal(keys, shift)) {
    if (shift > 32) sort_from(keys.subspan(begin, end - begin), shift - 8);
    begin = end;
  }
}

// Least significant digit first, from bit 32 up to the byte at `shift`.
void PairSorter::by_counting(std::span<std::uint64_t> keys, int shift) {
  spare_.resize(std::max(spare_.size(), keys.size()));
  std::span<std::uint64_t> from = keys;
  std::span<std::uint64_t> to = std::span(spare_).first(keys.size());
  for (int at = 32; at <= shift; at += 8) {
    std::array<std::size_t, 256> start{};
    for (const auto key : from) ++start[digit(key, at)];
    if (start[digit(from[0], at)] == from.size()) continue;
    std::size_t sum = 0;
    for (auto& s : start) sum += std::exchange(s, sum);
    for (const auto key : from) to[start[digit(key, at)]++] = key;
    std::swap(from, to);
  }
  if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

}  // namespace arboleda
