#include "data/radix_sort.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/ordered_key.h"

namespace arboleda {

namespace {

constexpr std::size_t kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

// Below this, clearing and adding up the counts of digits would take longer than the keys.
constexpr std::size_t kFewKeys = 512;

template <class Key>
std::size_t digit(Key key, std::size_t place) {
  return static_cast<std::size_t>(word_of_key(key) >> (kDigitBits * place)) % kDigits;
}

template <class Key>
void sort_by_digits(std::vector<Key>& keys, std::vector<Key>& spare) {
  if (keys.size() < kFewKeys) return std::sort(keys.begin(), keys.end());
  constexpr std::size_t kBits = std::numeric_limits<std::make_unsigned_t<Key>>::digits;
  constexpr std::size_t kPlaces = (kBits + kDigitBits - 1) / kDigitBits;
  std::array<std::array<std::size_t, kDigits>, kPlaces> start{};
  for (const Key key : keys) {
    for (std::size_t place = 0; place < kPlaces; ++place) {
      ++start[place][digit(key, place)];
    }
  }
  spare.resize(keys.size());
  for (std::size_t place = 0; place < kPlaces; ++place) {
    auto& next = start[place];
    if (next[digit(keys[0], place)] == keys.size()) continue;  // all have the same digit
    std::size_t sum = 0;
    for (auto& s : next) sum += std::exchange(s, sum);
    for (const Key key : keys) spare[next[digit(key, place)]++] = key;
    keys.swap(spare);
  }
}

}  // namespace

void radix_sort(std::vector<std::int32_t>& keys, std::vector<std::int32_t>& spare) {
  sort_by_digits(keys, spare);
}
void radix_sort(std::vector<std::int64_t>& keys, std::vector<std::int64_t>& spare) {
  sort_by_digits(keys, spare);
}

}  // namespace arboleda
