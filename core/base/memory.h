// Memory that is free but still held by the allocator.
#pragma once

#include <cstddef>

namespace arboleda {

// Gives it back to the system after work on this many cells, if that is many: an allocator that
// keeps a pool for every thread would otherwise hold what no other thread can use.
void return_free_memory(std::size_t n_cells);

}  // namespace arboleda
