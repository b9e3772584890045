// Sums over binary features: see simd/kernels.h for how the kernels are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace arboleda {

// Binary features, row by row: 0xFF where a row has the larger value, else 0.
struct BinaryFeatureRows {
  const std::uint8_t* flags;
  std::size_t stride;  // bytes a row: a multiple of 64
};

// The same in bits.
struct BinaryFeatureBits {
  static constexpr std::size_t kBlock = 8;  // words that are read at once

  const std::uint32_t* words;  // kBlock - 1 words after those of the last row may be read
  std::size_t stride;          // words a row
};

// Some features that are read together: all in one block of a row's words.
struct BinaryFeatureGroup {
  static constexpr std::size_t kColumns = 8;

  std::uint32_t block;
  std::uint32_t word[kColumns];   // of each column in the block; 0 where there are fewer columns
  std::uint32_t shift[kColumns];  // to the left, until the column's bit is the highest
};

// The contribution of a row: its weight to the sums of its class.
struct ClassEntry {
  std::uint16_t label, weight;
};

// entries: one for each of the n rows, n >= 1, of weights from 1 to 255.
struct BinaryFeatureKernels {
  // total[k * stride + j] = weight of the rows of class k that are flagged in column j, and where
  // rows are counted total[n_classes * stride + j] = their number.
  void (*sum)(const BinaryFeatureRows&, const RowIndex* rows, const ClassEntry* entries,
              std::size_t n, std::size_t n_classes, bool counts_rows, std::uint32_t* total);

  // The same for some columns: what stands at j is of column j % kColumns of group j / kColumns, and
  // the stride is n_groups * kColumns.
  void (*sum_groups)(const BinaryFeatureBits&, const BinaryFeatureGroup* groups,
                     std::size_t n_groups, const RowIndex* rows, const ClassEntry* entries,
                     std::size_t n, std::size_t n_classes, bool counts_rows, std::uint32_t* total);

  // Words of a row, to a multiple of kBlock (words beyond those of the row are unused): the columns
  // whose flags are not the same in all rows.
  void (*varying)(const BinaryFeatureBits&, const RowIndex* rows, std::size_t n,
                  std::uint32_t* words);
};

}  // namespace arboleda
