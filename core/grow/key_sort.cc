#include "grow/key_sort.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/fixed_point.h"

namespace arboleda {

namespace {

// Few keys are sorted by insertion, more by counting 256 digits. Between 16 and 96 a full tree on
// Adult or MNIST takes the same time.
constexpr std::size_t kInsertion = 48;

}  // namespace

void sort_keys(std::vector<SortKey>& keys, std::vector<SortKey>& spare, std::size_t n_codes) {
  const std::size_t n = keys.size();
  if (n <= kInsertion) {
    for (std::size_t i = 1; i < n; ++i) {
      const SortKey key = keys[i];
      std::size_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
    return;
  }
  // Stable counting passes over the bytes of the code, lowest first; places are in order already.
  spare.resize(n);
  const int n_bytes = (bit_length(n_codes - 1) + 7) / 8;
  for (int byte = 0; byte < n_bytes; ++byte) {
    const int shift = 32 + 8 * byte;
    std::array<std::uint32_t, 256> start{};
    for (const SortKey key : keys) ++start[(key >> shift) & 0xFF];
    std::uint32_t sum = 0;
    for (auto& s : start) sum += std::exchange(s, sum);
    for (const SortKey key : keys) spare[start[(key >> shift) & 0xFF]++] = key;
    keys.swap(spare);
  }
}

}  // namespace arboleda
