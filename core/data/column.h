// A table as the caller holds it: views only, nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace arboleda {

enum class DType : std::uint8_t {
  float64,
  float32,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
};

// One column: n values of one type, `stride` bytes apart (may be negative, may be unaligned).
struct ColumnView {
  const std::byte* data;
  std::ptrdiff_t stride;
  DType dtype;

  template <class T>
  T as(std::size_t row) const {
    T value;
    std::memcpy(&value, data + static_cast<std::ptrdiff_t>(row) * stride, sizeof value);
    return value;
  }

  // The value as float64, exact for all types but 64-bit integers beyond 2^53. NaN means missing.
  double operator[](std::size_t row) const {
    switch (dtype) {
      case DType::float64:
        return as<double>(row);
      case DType::float32:
        return static_cast<double>(as<float>(row));
      case DType::int8:
        return static_cast<double>(as<std::int8_t>(row));
      case DType::int16:
        return static_cast<double>(as<std::int16_t>(row));
      case DType::int32:
        return static_cast<double>(as<std::int32_t>(row));
      case DType::int64:
        return static_cast<double>(as<std::int64_t>(row));
      case DType::uint16:
        return static_cast<double>(as<std::uint16_t>(row));
      case DType::uint32:
        return static_cast<double>(as<std::uint32_t>(row));
      case DType::uint64:
        return static_cast<double>(as<std::uint64_t>(row));
      case DType::uint8:
      case DType::boolean:
        break;
    }
    return static_cast<double>(as<std::uint8_t>(row));
  }
};

struct TableView {
  std::size_t n_rows = 0;
  std::vector<ColumnView> columns;
};

}  // namespace arboleda
