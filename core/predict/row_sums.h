// Sums of amounts that many training rows get, most of them none: one number a row, and a list of the
// rows that got something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

class RowSums {
 public:
  explicit RowSums(std::size_t n_rows) : sum_(n_rows, 0.0) {}

  // amount >= 0
  void add(RowIndex row, double amount) {
    double& sum = sum_[row];
    if (sum == 0.0 && amount > 0.0) rows_.push_back(row);
    sum += amount;
  }

  double operator[](RowIndex row) const { return sum_[row]; }

  // The rows that got something, by their place in an order of all rows: order[place_of(row)] is row.
  template <class PlaceOf, class RowAt>
  std::span<const RowIndex> rows(const PlaceOf& place_of, const RowAt& row_at) {
    if (rows_.size() < sum_.size() / kSortedShare) {
      std::sort(rows_.begin(), rows_.end(),
                [&](RowIndex a, RowIndex b) { return place_of(a) < place_of(b); });
      return rows_;
    }
    rows_.clear();
    for (std::size_t place = 0; place < sum_.size(); ++place) {
      const RowIndex row = row_at(place);
      if (sum_[row] > 0.0) rows_.push_back(row);
    }
    return rows_;
  }

  // The same, ascending.
  std::span<const RowIndex> rows() {
    return rows([](RowIndex row) { return row; },
                [](std::size_t place) { return static_cast<RowIndex>(place); });
  }

  void clear() {
    for (const RowIndex row : rows_) sum_[row] = 0.0;
    rows_.clear();
  }

 private:
  // Sorting r rows costs about as much as looking at r log2(r) of them all.
  static constexpr std::size_t kSortedShare = 16;

  std::vector<double> sum_;
  std::vector<RowIndex> rows_;
};

// Rows of a matrix with few numbers other than 0, as SciPy's CSR.
struct SparseSums {
  std::vector<std::int64_t> start = {0};  // n_rows + 1
  std::vector<std::int32_t> index;        // ascending in a row
  std::vector<double> value;
};

// The rows of `parts`, one part after the other; the parts are emptied.
SparseSums joined(std::vector<SparseSums> parts);

}  // namespace arboleda
