// Binary features (categories of a one-hot encoding, yes or no) row by row: one pass over a node's rows
// sums many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "simd/binary_feature_kernels.h"

namespace arboleda {

// The columns that are flags.
struct BinaryFeatureColumns {
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit BinaryFeatureColumns(const BinnedDataset& table);

  std::vector<const std::uint8_t*> codes;  // of each flag
  std::vector<FeatureIndex> feature;
  std::vector<std::size_t> place;  // of each column among the flags, or kNone
};

// One of them, kept in bits.
struct BinaryFeatureCodes {
  const std::uint32_t* first;
  std::size_t stride;
  std::uint32_t bit;

  Code operator[](RowIndex row) const { return first[row * stride] >> bit & 1; }
};

// Whether a table with so many of them keeps them in bits (BinaryFeatureTable); else it sums all.
bool keeps_bits(std::size_t n_flags, std::size_t n_columns, FeatureIndex max_features);

class BinaryFeatureTable {
 public:
  static constexpr std::size_t kNone = BinaryFeatureColumns::kNone;

  BinaryFeatureTable() = default;  // empty

  // max_features: columns that a node looks at, or -1 for all. Where these are most of them, the sums
  // are those of all columns; where they are few, of those that are looked at.
  BinaryFeatureTable(const BinnedDataset& table, FeatureIndex max_features);

  bool empty() const { return n_flags_ == 0; }
  std::size_t n_flags() const { return n_flags_; }
  bool sums_all() const { return !flags_.empty(); }
  BinaryFeatureRows rows() const { return {flags_.data(), stride_}; }  // if it sums all
  BinaryFeatureBits bits() const { return {words_.data(), stride_}; }  // if not

  FeatureIndex feature_at(std::size_t place) const { return feature_[place]; }

  // The codes of a flag, if they are kept in bits.
  BinaryFeatureCodes codes_at(std::size_t place) const {
    return {words_.data() + place / 32, stride_, static_cast<std::uint32_t>(place % 32)};
  }

  // The place of a column in a row, or kNone.
  std::size_t place(FeatureIndex feature) const {
    return empty() ? kNone : place_[static_cast<std::size_t>(feature)];
  }

 private:
  void fill_rows(const std::vector<const std::uint8_t*>& codes, std::size_t n_rows);
  void fill_bits(const std::vector<const std::uint8_t*>& codes, std::size_t n_rows);

  std::size_t n_flags_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::size_t> place_;     // of each column
  std::vector<FeatureIndex> feature_;  // at each place
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> words_;
};

}  // namespace arboleda
