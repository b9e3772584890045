// Neighbouring values into bins of about equally many rows. Values come in ascending order, each with
// the number of its rows; with no more values than bins each has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace arboleda {

class Binner {
 public:
  // max_bins: 0 for no limit.
  Binner(std::size_t n_rows, std::size_t n_distinct, std::size_t max_bins)
      : rows_left_(n_rows), distinct_left_(n_distinct), bins_left_(max_bins) {
    exact_ = max_bins == 0 || n_distinct <= max_bins;
  }

  // True when this value begins a new bin, false when it joins the one before.
  bool begins(std::uint64_t n_rows) {
    const bool first = in_bin_ == 0;
    // A bin is full when it has its share of the rows that were left as it began; a value that
    // would fill a bin alone gets one.
    const bool full = in_bin_ >= share_ || n_rows >= share_;
    const bool begins = first || exact_ || distinct_left_ <= bins_left_ || (bins_left_ > 0 && full);
    if (begins) {
      share_ = bins_left_ > 0 ? rows_left_ / bins_left_ : rows_left_;
      if (bins_left_ > 0) --bins_left_;
      in_bin_ = 0;
    }
    in_bin_ += n_rows;
    rows_left_ -= n_rows;
    --distinct_left_;
    return begins;
  }

 private:
  bool exact_;
  std::uint64_t rows_left_, distinct_left_, bins_left_;
  std::uint64_t in_bin_ = 0;
  std::uint64_t share_ = 0;
};

}  // namespace arboleda
