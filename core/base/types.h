// The numeric types of the engine, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/compiler.h"

namespace arboleda {

// A row of the training table. 32 bits: row lists are the largest index arrays and 4e9 rows are
// more than one machine holds.
using RowIndex = std::uint32_t;

// A column of the table.
using FeatureIndex = std::int32_t;

// A node of a tree. Signed, so that -1 can mean "no child".
using NodeIndex = std::int32_t;

// The rank of a value among the distinct values of its column. Stored in 8, 16 or 32 bits.
using Code = std::uint32_t;

// The number of a category within its column, from 0 up. 65,535 is kept for "none of them".
using CategoryIndex = std::uint16_t;
inline constexpr CategoryIndex kNoCategory = 65535;

}  // namespace arboleda
