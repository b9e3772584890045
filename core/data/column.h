// A table as the caller holds it: views only, nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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

  // use(T{}), where T is the type that the column has.
  template <class Use>
  auto with_type(const Use& use) const {
    switch (dtype) {
      case DType::float64:
        return use(double{});
      case DType::float32:
        return use(float{});
      case DType::int8:
        return use(std::int8_t{});
      case DType::int16:
        return use(std::int16_t{});
      case DType::int32:
        return use(std::int32_t{});
      case DType::int64:
        return use(std::int64_t{});
      case DType::uint16:
        return use(std::uint16_t{});
      case DType::uint32:
        return use(std::uint32_t{});
      case DType::uint64:
        return use(std::uint64_t{});
      case DType::uint8:
      case DType::boolean:
        break;
    }
    return use(std::uint8_t{});
  }

  // The value as float64, exact for all types but 64-bit integers beyond 2^53. NaN means missing.
  double operator[](std::size_t row) const {
    return with_type([&]<class T>(T) { return static_cast<double>(as<T>(row)); });
  }

  // The values of the rows [begin, end).
  void copy(std::size_t begin, std::size_t end, double* out) const {
    with_type([&]<class T>(T) {
      for (std::size_t row = begin; row < end; ++row)
        out[row - begin] = static_cast<double>(as<T>(row));
    });
  }
};

struct TableView {
  std::size_t n_rows = 0;
  std::vector<ColumnView> columns;

  std::size_t n_columns() const { return columns.size(); }
  double at(std::size_t row, std::size_t column) const { return columns[column][row]; }
};

// The rows [begin, end) of a table.
TableView rows_between(const TableView& table, std::size_t begin, std::size_t end);

// Tables that store only what is not zero, as scipy.sparse does. Entry e has the value data[e];
// those of line i are start[i] .. start[i + 1], in ascending order of index, each index once.
struct SparseLines {
  std::span<const std::int64_t> start;  // number of lines + 1
  std::span<const std::int32_t> index;
  ColumnView data;

  // Throws Error(invalid_argument) unless all that is promised above holds, and every index is below
  // `n_across`.
  void check(std::size_t n_lines, std::size_t n_across, std::size_t n_data) const;
};

// Line = column, index = row: CSC.
struct SparseColumns {
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  SparseLines lines;
};

// Line = row, index = column: CSR.
struct SparseRows {
  std::size_t n_rows = 0;
  std::size_t n_across = 0;
  SparseLines lines;

  std::size_t n_columns() const { return n_across; }
  double at(std::size_t row, std::size_t column) const;
};

SparseRows rows_between(const SparseRows& table, std::size_t begin, std::size_t end);

}  // namespace arboleda
