// Loops over histograms of gradients: see simd/kernels.h for how they are compiled and chosen, and
// split/histogram.h for what the numbers mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace arboleda {

// A gradient and a hessian in one integer: gradient * 2^32 + hessian. Packed numbers add up as long
// as the sum of gradients fits 32 bits with its sign, and that of hessians, never negative, 31 bits.
using Packed = std::int64_t;

// The same with 64 bits each.
struct Wide {
  std::int64_t gradient, hessian;
};

inline constexpr std::size_t kDenseCells = 256;  // of a column whose codes are bytes

// Codes of one byte, row by row. They are read in runs of up to kCodeRun bytes: so many bytes after the last
// row can be read too.
inline constexpr std::size_t kCodeRun = 64;
struct ByteRows {
  const std::uint8_t* bytes;
  std::size_t stride;     // bytes a row
  std::size_t n_columns;  // of them that are codes; column j has the cells 256 j ..
  std::size_t near = 0;   // where a row has its own NearGradient, if gradients lie beside the codes
};

// A gradient and a hessian of few bits, beside the codes of their row: one cache line has all of a row.
struct NearGradient {
  std::int16_t gradient;
  std::uint16_t hessian;
};

// Lists of cells, row by row: those of row r are first_cell + cell[start[r]] .. cell[start[r + 1]].
struct ListedRows {
  const std::uint64_t* start;
  const std::uint16_t* cell;
  std::size_t first_cell;
};

// The input of a scan of a column's codes in ascending order. A split after code c sends
// codes up to c to the left.
struct ScanRange {
  std::size_t n_codes;
  Wide left;            // on the left before the first code
  Wide total;           // of the node
  double l2;            // in units of hessians
  std::int64_t least;   // a side with less hessian is not allowed
  std::int64_t enough;  // a side with at least this is certainly allowed; >= least
  double unit = 1.0;    // of a score
  double floor = 0.0;   // lower scores are not sought
};

struct ScanBest {
  double score = -1.0;  // (G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2)) * unit; negative: no split
  std::size_t code = 0;
};

// The best split, the first of equal ones, and the best of those that are certainly allowed.
struct ScanResult {
  ScanBest any, certain;
};

// Sums over packed rows. `seen` counts at most a limit of each row.
struct PackedTotals {
  std::int64_t gradient = 0, hessian = 0;
  std::int64_t seen_gradient = 0, seen_hessian = 0;  // of magnitudes
  std::int64_t largest_gradient = 0, largest_hessian = 0;
};

struct HistogramKernels {
  // cells[...] += gradients[row] for the codes of every row. rows: null for 0, 1, 2, ...
  void (*add_bytes)(const ByteRows&, const RowIndex* rows, std::size_t begin, std::size_t end,
                    const Packed* gradients, Packed* cells);
  void (*add_bytes_wide)(const ByteRows&, const RowIndex* rows, std::size_t begin, std::size_t end,
                         const Packed* gradients, Wide* cells);
  void (*add_listed)(const ListedRows&, const RowIndex* rows, std::size_t begin, std::size_t end,
                     const Packed* gradients, Packed* cells);
  void (*add_listed_wide)(const ListedRows&, const RowIndex* rows, std::size_t begin,
                          std::size_t end, const Packed* gradients, Wide* cells);

  ScanResult (*scan)(const Packed* cells, const ScanRange&);
  ScanResult (*scan_wide)(const Wide* cells, const ScanRange&);

  // totals[c] += the score of the split after code c, or `without` where it is not allowed.
  void (*add_scores)(const Packed* cells, const ScanRange&, double without, double* totals);
  void (*add_scores_wide)(const Wide* cells, const ScanRange&, double without, double* totals);

  // out[i] = round(gradient[i] * gradient_scale) * 2^32 + max(1, round(hessian[i] * hessian_scale));
  // hessian null: 1. Products must stay below 2^31 in magnitude.
  void (*pack)(const double* gradient, const double* hessian, std::size_t n, double gradient_scale,
               double hessian_scale, Packed* out);

  PackedTotals (*total)(const Packed* packed, std::size_t n, std::int64_t limit);

  // The bits of the largest |x|; infinity and NaN are above all numbers.
  std::uint64_t (*largest)(const double* x, std::size_t n);
};

}  // namespace arboleda
