// A node of a criterion of class weights that fit 32 bits, as kernels read it.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"
#include "simd/kernels.h"

namespace arboleda {

struct ClassNode {
  std::span<const RowIndex> rows;  // ascending
  const ClassEntry* entries;       // one a row
  const std::uint32_t* total;      // of each class
};

}  // namespace arboleda
