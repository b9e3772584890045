// What the system is told about memory.
#pragma once

#include <cstddef>
#include <vector>

namespace arboleda {

// Room for n numbers in large pages, where there are many and the system has such pages: looking up the
// places of rows that are read here and there costs less. Of a vector that has the room, nothing changes.
void ask_for_large_pages(void* begin, std::size_t n_bytes);
template <class T>
void reserve_large(std::vector<T>& numbers, std::size_t n) {
  if (numbers.capacity() >= n) return;
  numbers.reserve(n);
  ask_for_large_pages(numbers.data(), n * sizeof(T));
}

// Gives memory that is free but still held by the allocator back to the system after work on this
// many cells, if that is many: an allocator that keeps a pool for every thread would otherwise hold
// what no other thread can use.
void return_free_memory(std::size_t n_cells);

}  // namespace arboleda
