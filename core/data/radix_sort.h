// Radix sort of integer keys, least significant digit first.
#pragma once

#include <cstdint>
#include <vector>

namespace arboleda {

// Ascending. `spare` grows to the size of keys; the two may change places.
void radix_sort(std::vector<std::int32_t>& keys, std::vector<std::int32_t>& spare);
void radix_sort(std::vector<std::int64_t>& keys, std::vector<std::int64_t>& spare);

}  // namespace arboleda
