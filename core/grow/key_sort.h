// Sorts the keys of a node's rows by code.
#pragma once

#include <cstddef>
#include <vector>

#include "grow/scan.h"

namespace arboleda {

// keys: in ascending order of place, every code below n_codes. spare: any vector, used as scratch.
// After the call the keys are in ascending order of (code, place).
void sort_keys(std::vector<SortKey>& keys, std::vector<SortKey>& spare, std::size_t n_codes);

}  // namespace arboleda
