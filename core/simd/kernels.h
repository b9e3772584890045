// The few loops that gain from wide registers. Each is written once (simd/generic/) and compiled for
// every level; the level is chosen on first use. All kernels work on integers, except math, shap, the
// split scores, rankings, those of vectors and the sums of coded_trees, which keep the order of their
// operations: every level gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/types.h"
#include "simd/binary_feature_kernels.h"
#include "simd/binning_kernels.h"
#include "simd/coded_tree_kernels.h"
#include "simd/histogram_kernels.h"
#include "simd/math_kernels.h"
#include "simd/numeric_feature_kernels.h"
#include "simd/random_kernels.h"
#include "simd/ranking_kernels.h"
#include "simd/shap_kernels.h"
#include "simd/split_score_kernels.h"
#include "simd/stump_kernels.h"
#include "simd/vector_histogram_kernels.h"
#include "simd/weight_kernels.h"

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

  HistogramKernels histograms;
  VectorHistogramKernels vector_histograms;
  MathKernels math;
  BinningKernels binning;
  BinaryFeatureKernels binary_features;
  NumericFeatureKernels numeric_features;
  RandomKernels random;
  StumpKernels stumps;
  SplitScoreKernels split_scores;
  ShapKernels shap;
  CodedTreeKernels coded_trees;
  WeightKernels weights;
  RankingKernels ranking;
};

// The widest level of this machine, or the one that ARBOLEDA_FORCE_SIMD names. Throws
// Error(invalid_argument) if there is no such level here.
const Kernels& kernels();

// All levels of this machine, the baseline first.
std::span<const Kernels* const> all_kernels();

}  // namespace arboleda
