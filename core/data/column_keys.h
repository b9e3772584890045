// The ordered keys (base/ordered_key.h) of neighbouring values of a column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/column.h"

namespace arboleda {

// Of float32 values.
void read_keys(const ColumnView& view, std::size_t begin, std::size_t n, std::int32_t* keys);

// Of values of any type, as float64.
void read_keys(const ColumnView& view, std::size_t begin, std::size_t n, std::int64_t* keys);

}  // namespace arboleda
