// Sums over columns of two values: see base/kernels.h for how the loop is compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace arboleda {

// Columns of two values, row by row: 0xFF where a row has the larger one, else 0.
struct FlagRows {
  const std::uint8_t* flags;
  std::size_t stride;  // bytes a row: a multiple of 64
};

// What a row adds: its weight to the sums of its class.
struct ClassEntry {
  std::uint16_t label, weight;
};

struct FlagKernels {
  // total[k * stride + j] = weight of the rows of class k that are flagged in column j, and where
  // rows are counted total[n_classes * stride + j] = their number. entries: one for each of the n
  // rows, n >= 1, of weights from 1 to 255.
  void (*sum)(const FlagRows&, const RowIndex* rows, const ClassEntry* entries, std::size_t n,
              std::size_t n_classes, bool counts_rows, std::uint32_t* total);
};

}  // namespace arboleda
