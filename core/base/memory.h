// Advice to the system about memory, and arrays that are not filled before they are written.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/compiler.h"

namespace arboleda {

// An array whose numbers are whatever was there until they are written: resize() does not fill.
template <class T>
struct UnfilledAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnfilledAllocator<U>;
  };
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};
template <class T>
using UnfilledVector = std::vector<T, UnfilledAllocator<T>>;

// An array that begins with a cache line: registers that are read from it do not straddle two lines.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* at, std::size_t) { ::operator delete(at, kLine); }
  bool operator==(const AlignedAllocator&) const = default;
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// Room for n numbers in large pages, where there are many and the system has such pages: looking up the
// places of rows that are read here and there costs less. Of a vector that has the room, nothing changes.
void advise_large_pages(void* begin, std::size_t n_bytes);
template <class T, class Allocator>
void reserve_large(std::vector<T, Allocator>& numbers, std::size_t n) {
  if (numbers.capacity() >= n) return;
  numbers.reserve(n);
  advise_large_pages(numbers.data(), n * sizeof(T));
}

// Has numbers fetched that are used soon, in any order.
template <class T>
void fetch(std::span<T> numbers) {
  constexpr std::size_t kNumbersALine = 64 / sizeof(T);
  for (std::size_t i = 0; i < numbers.size(); i += kNumbersALine) ARBOLEDA_PREFETCH(&numbers[i]);
}

// Has the system read the pages of a mapped file that are used soon, and no others, without waiting for them.
void read_pages_ahead(const void* begin, std::size_t n_bytes);

// Resident memory of this process that no file holds, or nothing where the system does not show it.
std::optional<std::size_t> private_bytes();

// Gives memory that is free but still held by the allocator back to the system after work on this
// many cells, if that is many: an allocator that keeps a pool for every thread would otherwise hold
// what no other thread can use.
void return_free_memory(std::size_t n_cells);

}  // namespace arboleda
