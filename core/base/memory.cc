#include "base/memory.h"

#include <cstdint>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#endif

namespace arboleda {

namespace {

// From here on it takes a small part of the time that the cells took.
constexpr std::size_t kManyCells = std::size_t{1} << 22;

// Below so many bytes pages of the usual size do.
constexpr std::size_t kManyBytes = std::size_t{1} << 22;

// The system wants whole pages.
constexpr std::uintptr_t kPage = 4096;

}  // namespace

void advise_large_pages(void* begin, std::size_t n_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (n_bytes < kManyBytes) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) / kPage * kPage;
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + n_bytes) / kPage * kPage;
  // A system without such pages is no error.
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#else
  static_cast<void>(begin);
  static_cast<void>(n_bytes);
#endif
}

void read_pages_ahead(const void* begin, std::size_t n_bytes) {
#if defined(__linux__)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  const auto last = reinterpret_cast<std::uintptr_t>(begin) + n_bytes;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_WILLNEED));
#else
  static_cast<void>(begin);
  static_cast<void>(n_bytes);
#endif
}

std::optional<std::size_t> private_bytes() {
#if defined(__linux__)
  std::size_t size = 0, resident = 0, shared = 0;  // pages; files count as shared
  if (std::ifstream("/proc/self/statm") >> size >> resident >> shared) {
    return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
#endif
  return std::nullopt;
}

void return_free_memory(std::size_t n_cells) {
#if defined(__GLIBC__)
  if (n_cells >= kManyCells) malloc_trim(0);
#else
  static_cast<void>(n_cells);
#endif
}

}  // namespace arboleda
