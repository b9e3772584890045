#include "data/learn_edges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/ordered_key.h"
#include "data/binner.h"
#include "data/column_keys.h"
#include "data/radix_sort.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kCountedBlock = 4096;

template <class Key>
void read_all_keys(const ColumnView& view, std::size_t n_rows, std::vector<Key>& keys) {
  keys.resize(n_rows);
  for (std::size_t begin = 0; begin < n_rows; begin += kCountedBlock) {
    read_keys(view, begin, std::min(kCountedBlock, n_rows - begin), &keys[begin]);
  }
}

// Keys of float32, of a column of any other type; false if one of its values is no float32.
bool read_as_floats(const ColumnView& view, std::size_t n_rows, std::vector<std::int32_t>& keys) {
  keys.resize(n_rows);
  for (std::size_t begin = 0; begin < n_rows; begin += kCountedBlock) {
    const std::size_t end = std::min(begin + kCountedBlock, n_rows);
    bool fit = true;
    for (std::size_t row = begin; row < end; ++row) {
      const double x = view[row];
      const auto narrow = static_cast<float>(x);
      fit &= static_cast<double>(narrow) == x || std::isnan(x);
      keys[row] = std::bit_cast<std::int32_t>(narrow);
    }
    if (!fit) return false;
    kernels().binning.keys_32(&keys[begin], end - begin, &keys[begin]);
  }
  return true;
}

// Calls visit(key, how often) for each distinct one of the sorted keys, until it returns false.
template <class Key, class Visit>
void for_each_run(std::span<const Key> keys, const Visit& visit) {
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    if (!visit(keys[begin], end - begin)) return;
  }
}

// The largest number that divides how often each key occurs: 2 or a multiple where every row stands
// twice. A value that occurs once ends the search, as one of the first does in most columns.
template <class Key>
std::size_t common_repeats(std::span<const Key> keys, std::size_t rows_a_zero) {
  std::size_t divisor = 0;
  for_each_run(keys, [&](Key key, std::size_t n) {
    divisor = std::gcd(divisor, key == 0 ? n * rows_a_zero : n);
    return divisor != 1;
  });
  return divisor;
}

// keys: sorted, none missing.
template <class Key>
void bound_codes(std::span<const Key> keys, std::size_t max_bins, std::size_t rows_a_zero,
                 CodedColumn& column) {
  std::size_t n_distinct = keys.empty() ? 0 : 1;
  for (std::size_t i = 1; i < keys.size(); ++i) n_distinct += keys[i] != keys[i - 1];
  const bool binned = max_bins != 0 && n_distinct > max_bins;
  column.values.reserve(binned ? max_bins : n_distinct);
  column.upper.reserve(binned ? max_bins : 0);

  // Bins count in whole rows. Of a table whose rows all stand k times they count groups of k, so that
  // its bins are those of the table with each row once.
  const std::size_t unit = binned ? common_repeats(keys, rows_a_zero) : 1;
  Binner binner((keys.size() + rows_a_zero - 1) / unit, n_distinct, max_bins);
  Key last{};
  for_each_run(keys, [&](Key key, std::size_t n) {
    if (binner.begins((key == 0 ? n * rows_a_zero : n) / unit)) {
      if (binned && !column.values.empty()) column.upper.push_back(value_of_key(last));
      column.values.push_back(value_of_key(key));
    }
    last = key;
    return true;
  });
  if (binned) column.upper.push_back(value_of_key(last));
  column.n_values = column.values.size();
}

// One zero stands for all: a column may have little else, and they need no sorting.
template <class Key>
std::size_t drop_repeated_zeros(std::vector<Key>& keys) {
  std::size_t kept = 0;
  for (const Key key : keys) {
    keys[kept] = key;
    kept += key != 0;
  }
  const std::size_t n_zeros = keys.size() - kept;
  keys.resize(kept);
  if (n_zeros > 0) keys.push_back(0);
  return n_zeros;
}

template <class Key>
void learn_from(std::vector<Key>& keys, std::vector<Key>& spare, std::span<const RowIndex> rows,
                std::size_t max_bins, std::size_t rows_a_zero, CodedColumn& column) {
  column.has_missing = std::find(keys.begin(), keys.end(), kMissingKey<Key>) != keys.end();
  if (!rows.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i) keys[i] = keys[rows[i]];  // rows[i] >= i
    keys.resize(rows.size());
  }
  const std::size_t n_zeros = drop_repeated_zeros(keys);
  if (n_zeros > 0) rows_a_zero *= n_zeros;
  radix_sort(keys, spare);
  const auto end = std::lower_bound(keys.begin(), keys.end(), kMissingKey<Key>);
  bound_codes(std::span<const Key>(keys.begin(), end), max_bins, rows_a_zero, column);
}

}  // namespace

void learn_edges(const ColumnView& view, std::size_t n_rows, std::span<const RowIndex> rows,
                 std::size_t max_bins, EdgeScratch& scratch, CodedColumn& column,
                 std::size_t rows_a_zero) {
  bool are_floats = true;
  if (view.dtype == DType::float32) {
    read_all_keys(view, n_rows, scratch.keys_32);
  } else {
    are_floats = read_as_floats(view, n_rows, scratch.keys_32);
  }
  if (are_floats) {
    learn_from(scratch.keys_32, scratch.spare_32, rows, max_bins, rows_a_zero, column);
  } else {
    read_all_keys(view, n_rows, scratch.keys_64);
    learn_from(scratch.keys_64, scratch.spare_64, rows, max_bins, rows_a_zero, column);
  }
}

}  // namespace arboleda
