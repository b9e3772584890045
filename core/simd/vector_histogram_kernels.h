// Loops over histograms whose cells hold one sum for each of several outputs: see simd/kernels.h for how
// they are compiled and chosen, and split/vector_histogram.h for what the numbers mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"
#include "simd/histogram_kernels.h"

namespace arboleda {

// Numbers of a cell and of a row: a multiple of this, so that they fill registers.
inline constexpr std::size_t kVectorLanes = 4;

// The input of a scan of a column's codes in ascending order. A split after code c sends codes up to c
// to the left.
struct VectorScanRange {
  std::size_t n_codes;
  std::size_t width;             // numbers a cell
  std::size_t n_outputs;         // of them; the hessians of the next one count rows
  const double* total_gradient;  // `width`: of the node
  const double* total_hessian;   // `width`
  const double* unit;            // `width`: of each output's part of a score; 0 beyond the outputs
  double l2;                     // in units of hessians
  double min_rows;               // of a side; >= 1
  double min_hessian;            // of a side, the sum over outputs
};

struct VectorHistogramKernels {
  // cells[(first_cell[j] + code) * width + c] += gradients[row * width + c] for the codes of every row,
  // column j by column j. rows: null for 0, 1, 2, ...
  void (*add_bytes)(const ByteRows&, const std::uint32_t* first_cell, const RowIndex* rows,
                    std::size_t begin, std::size_t end, std::size_t width, const Packed* gradients,
                    Packed* cells);
  void (*add_listed)(const ListedRows&, const RowIndex* rows, std::size_t begin, std::size_t end,
                     std::size_t width, const Packed* gradients, Packed* cells);

  // The best split, the first of equal ones. Its score is the sum over outputs of
  // (G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2)) * unit. left: `width` sums on the left before the first
  // code; OUT undefined.
  ScanBest (*scan)(const Packed* cells, Packed* left, const VectorScanRange&);
  ScanBest (*scan_wide)(const Wide* cells, Wide* left, const VectorScanRange&);
};

}  // namespace arboleda
