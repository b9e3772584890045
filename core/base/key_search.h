// Order statistics of items that lie in several places: the shares of threads, or the parts of a table on
// several machines.
//
// An item has a key and a whole weight. Sought is the smallest key up to which the weights, keys ascending,
// reach a goal. In each round every place adds the weights of its items into one sum for each value of the
// next kDigitBits of the keys; the sums of all places, added, tell these bits of the key sought, and the
// places drop all items with others. The few items that are left are looked at together.
//
//   bits of the key   [ known: prefix | digit: 4,096 sums | not yet seen ]
//
// Only sums pass between places, so the result does not depend on which place holds which item, nor on
// their order. A digit has 12 bits: the sums stay in the nearest cache and are 32 KB to send, and the first
// digit of a double is its sign and exponent. Searches side by side, of which each has fewer items, have
// digits of 8 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/ordered_key.h"
#include "base/shards.h"

namespace arboleda {

inline constexpr int kDigitBits = 12;
inline constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// So many items are searched without sums.
inline constexpr std::size_t kFewItems = std::size_t{1} << 10;

// Keys of doubles: those of base/ordered_key.h without a sign.
inline constexpr std::uint64_t kKeySign = std::uint64_t{1} << 63;
inline std::uint64_t search_key(double x) {
  return static_cast<std::uint64_t>(ordered_key(x)) ^ kKeySign;
}
inline double number_of(std::uint64_t key) {
  return value_of_key(static_cast<std::int64_t>(key ^ kKeySign));
}

struct UnitItem {
  std::uint64_t key;
  static constexpr std::uint64_t weight = 1;
};
struct WeightedItem {
  std::uint64_t key, weight;
};

// What a search finds: the key, the weight of all smaller keys, and that of the key itself.
struct KeyCut {
  std::uint64_t key, below, at;
};

// What all places are told in a round: the bits that are known.
class KeySearch {
 public:
  // goal: at least 1 and at most the weight of all items, which is below 2^63.
  explicit KeySearch(std::uint64_t goal) : goal_(goal) {}

  std::size_t digit(std::uint64_t key) const {
    return static_cast<std::size_t>((key << n_known_) >> (64 - kDigitBits));
  }
  bool holds(std::uint64_t key) const {
    return n_known_ == 0 || (key ^ prefix_) >> (64 - n_known_) == 0;
  }
  bool knows_all() const { return n_known_ == 64; }

  // sums: for each digit the weight of the items that hold, of all places. Returns the digit found.
  std::size_t narrow(std::span<const std::uint64_t> sums);

  KeyCut cut() const { return {prefix_, below_, at_}; }  // once it knows all

  // From all items that hold; changes their order.
  template <class Item>
  KeyCut finish(std::span<Item> items) const;

 private:
  std::uint64_t goal_, below_ = 0, at_ = 0, prefix_ = 0;
  int n_known_ = 0;
};

// The sums of all places of all shards: add(place, sums) adds those of one.
std::vector<std::uint64_t> sum_digits(
    std::size_t n_places, int n_threads, const Shards* shards,
    const std::function<void(std::size_t place, std::span<std::uint64_t> sums)>& add);

// The search to its end, from its first round or a later one. The items of all places hold; they are lost.
template <class Item>
KeyCut find_key(std::span<std::vector<Item>> places, KeySearch search, int n_threads,
                const Shards* shards);

// Several searches side by side, each among items of its own in all shards, with one message a round for
// all of them. A goal of 0, where there is no weight, finds nothing. The items are lost.
std::vector<KeyCut> find_keys(std::span<std::vector<WeightedItem>> items,
                              std::span<const std::uint64_t> goals, const Shards& shards);

// Tells of the items of one place, in order, whether they are among those up to a cut: all of smaller keys,
// and the first n_at of the cut's own.
class KeyCutter {
 public:
  KeyCutter(std::uint64_t key, std::uint64_t n_at) : key_(key), n_at_(n_at) {}
  bool takes(std::uint64_t key) {
    if (key != key_) return key < key_;
    if (n_at_ == 0) return false;
    --n_at_;
    return true;
  }

 private:
  std::uint64_t key_, n_at_;
};

// One for each place, so that `goal` items are taken of all places of all shards: ties go to the first
// ones. n_at: the items of the cut's key in each place.
std::vector<KeyCutter> cut_places(const KeyCut& cut, std::uint64_t goal,
                                  std::span<const std::uint64_t> n_at, const Shards* shards);

}  // namespace arboleda
