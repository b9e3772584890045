#include "base/memory.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace arboleda {

namespace {

// From here on it takes a small part of the time that the cells took.
constexpr std::size_t kManyCells = std::size_t{1} << 22;

}  // namespace

void return_free_memory(std::size_t n_cells) {
#if defined(__GLIBC__)
  if (n_cells >= kManyCells) malloc_trim(0);
#else
  static_cast<void>(n_cells);
#endif
}

}  // namespace arboleda
