// The codes of some rows of a column, in their order.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "simd/kernels.h"

namespace arboleda {

inline void gather_codes(const CodeArray<std::uint8_t>& codes, std::span<const RowIndex> rows,
                         Code* out) {
  kernels().gather_8(codes.data(), rows.data(), rows.size(), out);
}
inline void gather_codes(const CodeArray<std::uint16_t>& codes, std::span<const RowIndex> rows,
                         Code* out) {
  kernels().gather_16(codes.data(), rows.data(), rows.size(), out);
}
inline void gather_codes(const CodeArray<std::uint32_t>& codes, std::span<const RowIndex> rows,
                         Code* out) {
  kernels().gather_32(codes.data(), rows.data(), rows.size(), out);
}

// rows: ascending.
inline void gather_codes(const CodedColumn& column, std::span<const RowIndex> rows,
                         std::vector<Code>& out) {
  out.resize(rows.size());
  std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          out.assign(rows.size(), codes.default_code);
          for_each_listed(codes, rows, [&](std::size_t i, Code code) { out[i] = code; });
        } else {
          gather_codes(codes, rows, out.data());
        }
      },
      column.codes);
}

}  // namespace arboleda
