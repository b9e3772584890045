#include "data/coded_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Number of distinct values up to which a hash table finds them faster than a sort.
constexpr std::size_t kFewValues = 1024;
constexpr std::size_t kHashSlots = 4 * kFewValues;

// Columns of one task are read together, so that a row-major table is read by whole cache lines;
// their copies may take this many bytes.
constexpr std::size_t kReadBuffer = std::size_t{16} << 20;
constexpr std::size_t kColumnsATask = 16;

template <class T>
void store_codes(std::span<const std::uint32_t> codes, CodedColumn& column) {
  std::vector<T> narrow(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) narrow[i] = static_cast<T>(codes[i]);
  column.codes = std::move(narrow);
}

void store_codes(std::span<const std::uint32_t> codes, CodedColumn& column) {
  if (column.n_codes() <= std::size_t{1} << 8) {
    store_codes<std::uint8_t>(codes, column);
  } else if (column.n_codes() <= std::size_t{1} << 16) {
    store_codes<std::uint16_t>(codes, column);
  } else {
    column.codes = std::vector<std::uint32_t>(codes.begin(), codes.end());
  }
}

// Ranks a column of few distinct values: number them as they appear, sort them, renumber.
// False, and nothing usable, when there are too many.
bool rank_few(std::span<const double> x, CodedColumn& column, std::vector<std::uint32_t>& codes) {
  constexpr std::uint32_t kEmpty = UINT32_MAX;
  std::array<std::uint32_t, kHashSlots> slots;
  slots.fill(kEmpty);
  std::vector<double> seen;
  constexpr std::uint32_t kMissing = UINT32_MAX;
  column.has_missing = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) {
      column.has_missing = true;
      codes[i] = kMissing;
      continue;
    }
    const auto bits = std::bit_cast<std::uint64_t>(x[i]);
    std::size_t slot = (bits * 0x9E3779B97F4A7C15ULL) >> (64 - std::countr_zero(kHashSlots));
    while (slots[slot] != kEmpty && seen[slots[slot]] != x[i]) slot = (slot + 1) % kHashSlots;
    if (slots[slot] == kEmpty) {
      if (seen.size() == kFewValues) return false;
      slots[slot] = static_cast<std::uint32_t>(seen.size());
      seen.push_back(x[i]);
    }
    codes[i] = slots[slot];
  }
  column.values = seen;
  std::sort(column.values.begin(), column.values.end());
  std::vector<std::uint32_t> rank(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    rank[i] = static_cast<std::uint32_t>(
        std::lower_bound(column.values.begin(), column.values.end(), seen[i]) -
        column.values.begin());
  }
  const auto missing = static_cast<std::uint32_t>(seen.size());
  for (auto& code : codes) code = code == kMissing ? missing : rank[code];
  return true;
}

// Unsigned integers in the order of the reals they come from; NaN (made positive) comes last.
std::uint64_t ordered_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits >> 63) ? ~bits : bits | (std::uint64_t{1} << 63);
}

std::uint32_t ordered_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits >> 31) ? ~bits : bits | (std::uint32_t{1} << 31);
}

struct WideKey {
  std::uint64_t key;
  std::uint32_t row;
};

// A key of 32 bits and its row in one integer.
struct NarrowKey {
  std::uint64_t both;
};

std::uint64_t key_of(const WideKey& k) { return k.key; }
std::uint64_t key_of(const NarrowKey& k) { return k.both >> 32; }
std::uint32_t row_of(const WideKey& k) { return k.row; }
std::uint32_t row_of(const NarrowKey& k) { return static_cast<std::uint32_t>(k.both); }

// Least significant digit first, bytes as digits; digits that all keys share are skipped.
template <class Key>
void radix_sort(std::vector<Key>& keys, int n_bytes) {
  std::vector<Key> other(keys.size());
  for (int byte = 0; byte < n_bytes; ++byte) {
    const int shift = 8 * byte;
    std::array<std::size_t, 256> start{};
    for (const Key& k : keys) ++start[(key_of(k) >> shift) & 0xFF];
    if (start[(key_of(keys[0]) >> shift) & 0xFF] == keys.size()) continue;
    std::size_t sum = 0;
    for (auto& s : start) sum += std::exchange(s, sum);
    for (const Key& k : keys) other[start[(key_of(k) >> shift) & 0xFF]++] = k;
    keys.swap(other);
  }
}

template <class Key>
void codes_from_sorted(std::span<const Key> keys, std::span<const double> x, CodedColumn& column,
                       std::vector<std::uint32_t>& codes) {
  column.values.clear();
  column.has_missing = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t row = row_of(keys[i]);
    if (std::isnan(x[row])) {
      column.has_missing = true;
      codes[row] = static_cast<std::uint32_t>(column.values.size());
      continue;
    }
    if (i == 0 || key_of(keys[i]) != key_of(keys[i - 1])) column.values.push_back(x[row]);
    codes[row] = static_cast<std::uint32_t>(column.values.size() - 1);
  }
}

void rank_many(std::span<const double> x, CodedColumn& column, std::vector<std::uint32_t>& codes) {
  const auto n = static_cast<std::uint32_t>(x.size());
  const bool narrow = std::all_of(x.begin(), x.end(), [](double value) {
    return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
  });
  if (narrow) {
    std::vector<NarrowKey> keys(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      keys[i].both = std::uint64_t{ordered_bits(static_cast<float>(x[i]))} << 32 | i;
    }
    radix_sort(keys, 4);
    codes_from_sorted<NarrowKey>(keys, x, column, codes);
  } else {
    std::vector<WideKey> keys(n);
    for (std::uint32_t i = 0; i < n; ++i) keys[i] = {ordered_bits(x[i]), i};
    radix_sort(keys, 8);
    codes_from_sorted<WideKey>(keys, x, column, codes);
  }
}

// x: the column, NaN for missing; every NaN and zero is made positive, so that equal values have
// equal bits.
void rank_column(std::span<double> x, CodedColumn& column, std::vector<std::uint32_t>& codes) {
  for (auto& value : x) {
    value = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value + 0.0;
  }
  if (!rank_few(x, column, codes)) rank_many(x, column, codes);
  store_codes(codes, column);
}

}  // namespace

CodedTable code_table(const TableView& table, const Context& context) {
  require(table.n_rows <= std::numeric_limits<RowIndex>::max(), "more than 2^32 - 1 rows");
  require(table.columns.size() <= std::numeric_limits<FeatureIndex>::max(), "too many columns");
  const std::size_t n = table.n_rows;
  const std::size_t n_columns = table.columns.size();

  CodedTable coded;
  coded.n_rows = n;
  coded.columns.resize(n_columns);
  const std::size_t group = std::clamp<std::size_t>(
      kReadBuffer / (sizeof(double) * std::max<std::size_t>(n, 1)), 1, kColumnsATask);
  const std::size_t n_groups = (n_columns + group - 1) / group;
  parallel_for(context.n_threads(), n_groups, [&](std::size_t task, int) {
    const std::size_t first = task * group;
    const std::size_t count = std::min(group, n_columns - first);
    std::vector<double> x(count * n);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t c = 0; c < count; ++c) x[c * n + row] = table.columns[first + c][row];
    }
    std::vector<std::uint32_t> codes(n);
    for (std::size_t c = 0; c < count; ++c) {
      context.check();
      rank_column(std::span(x).subspan(c * n, n), coded.columns[first + c], codes);
    }
  });
  return coded;
}

}  // namespace arboleda
