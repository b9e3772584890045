#include "data/column_keys.h"

#include <bit>

#include "simd/kernels.h"

namespace arboleda {

void read_keys(const ColumnView& view, std::size_t begin, std::size_t n, std::int32_t* keys) {
  for (std::size_t i = 0; i < n; ++i) keys[i] = view.as<std::int32_t>(begin + i);
  kernels().binning.keys_32(keys, n, keys);
}

void read_keys(const ColumnView& view, std::size_t begin, std::size_t n, std::int64_t* keys) {
  view.with_type([&]<class T>(T) {
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = std::bit_cast<std::int64_t>(static_cast<double>(view.as<T>(begin + i)));
    }
  });
  kernels().binning.keys_64(keys, n, keys);
}

}  // namespace arboleda
