// The few loops that gain from wide registers. Each is written once (kernels_loops.h) and compiled
// for every level; the level is chosen when the program first asks. All work on integers, but for
// `math`, `shap` and `trees`, which keep to the order of their operations: every level gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/binary_feature_kernels.h"
#include "base/coding_kernels.h"
#include "base/histogram_kernels.h"
#include "base/math_kernels.h"
#include "base/number_kernels.h"
#include "base/random_kernels.h"
#include "base/score_kernels.h"
#include "base/shap_kernels.h"
#include "base/stump_kernels.h"
#include "base/tree_kernels.h"
#include "base/types.h"
#include "base/weight_kernels.h"

namespace arboleda {

struct MinMax {
  std::int64_t min, max;
};

struct Kernels {
  std::string_view level;  // "baseline", "avx2" or "avx512"

  // out[i] = codes[rows[i]]
  void (*gather_8)(const std::uint8_t* codes, const RowIndex* rows, std::size_t n, Code* out);
  void (*gather_16)(const std::uint16_t* codes, const RowIndex* rows, std::size_t n, Code* out);
  void (*gather_32)(const std::uint32_t* codes, const RowIndex* rows, std::size_t n, Code* out);

  // keys[i] = codes[i] << 32 | i; returns the bits in which any code differs from the first.
  Code (*make_keys)(const Code* codes, std::size_t n, std::uint64_t* keys);

  // rank[i] = how many keys are smaller than keys[i]. Reads and writes up to the next multiple of 16.
  void (*rank)(const std::uint32_t* keys, std::size_t n, std::uint32_t* rank);

  // n >= 1.
  MinMax (*min_max)(const std::int64_t* x, std::size_t n);

  // The first i with x[i] == value, or n.
  std::size_t (*find)(const std::int64_t* x, std::size_t n, std::int64_t value);

  HistogramKernels histogram;
  MathKernels math;
  CodingKernels coding;
  BinaryFeatureKernels flags;
  NumberKernels numbers;
  RandomKernels random;
  StumpKernels stump;
  ScoreKernels scores;
  ShapKernels shap;
  TreeKernels trees;
  WeightKernels weights;
};

// The widest level of this machine, or the one that ARBOLEDA_FORCE_SIMD names. Throws
// Error(invalid_argument) if there is no such level here.
const Kernels& kernels();

// All levels of this machine, the baseline first.
std::span<const Kernels* const> all_kernels();

}  // namespace arboleda
