// Ranks of a column's values among its distinct values.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/column.h"

namespace arboleda {

// A column to be ranked: every NaN is the same one and -0.0 is 0.0, so that equal values have equal
// bits.
class ColumnValues {
 public:
  explicit ColumnValues(std::span<const double> values) : values_(values), size_(values.size()) {}
  ColumnValues(const ColumnView& view, std::size_t n_rows) : view_(view), size_(n_rows) {}

  std::size_t size() const { return size_; }
  double operator[](std::size_t i) const {
    const double x = values_.empty() ? view_[i] : values_[i];
    return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x + 0.0;
  }

 private:
  std::span<const double> values_;
  ColumnView view_{};
  std::size_t size_;
};

// A row and the rank of its value in one integer: rank << 32 | row.
using RankedRow = std::uint64_t;
inline std::uint32_t rank_of(RankedRow r) { return static_cast<std::uint32_t>(r >> 32); }
inline RowIndex row_of(RankedRow r) { return static_cast<RowIndex>(r); }

struct Ranking {
  std::vector<RankedRow> rows;  // ascending by rank; missing rows, of rank n_distinct, last
  std::uint32_t n_distinct = 0;
  std::size_t n_missing = 0;
};

// By sorting: 8 bytes a row, for any number of distinct values.
Ranking rank_by_sort(const ColumnValues& x);

// By a hash table: faster for up to kFewValues distinct values.
inline constexpr std::size_t kFewValues = 1024;

struct FewValues {
  bool found = false;               // false: there are more, and nothing below means anything
  std::vector<double> values;       // ascending
  std::vector<std::uint16_t> rank;  // of each row; values.size() where it is missing
  bool has_missing = false;
};
FewValues rank_few(const ColumnValues& x);

}  // namespace arboleda
