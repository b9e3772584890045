// The loops of kernels.h. Included once by the file of each level, which defines ARBOLEDA_LEVEL, the
// name of that level, and is compiled for it. Nothing else may be included here: an inline function
// compiled for a wide level could be linked where a narrow one runs.

#include "base/binary_feature_loops.h"
#include "base/coding_loops.h"
#include "base/histogram_loops.h"
#include "base/math_loops.h"
#include "base/number_loops.h"
#include "base/random_loops.h"
#include "base/scan_loops.h"
#include "base/score_loops.h"
#include "base/shap_loops.h"
#include "base/stump_loops.h"
#include "base/tree_loops.h"
#include "base/weight_loops.h"

namespace arboleda {

namespace {

template <class T>
void gather(const T* codes, const RowIndex* rows, std::size_t n, Code* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = codes[rows[i]];
}

Code make_keys(const Code* codes, std::size_t n, std::uint64_t* keys) {
  Code differ = 0;
  for (std::size_t i = 0; i < n; ++i) {
    differ |= codes[i] ^ codes[0];
    keys[i] = static_cast<std::uint64_t>(codes[i]) << 32 | i;
  }
  return differ;
}

using RankLanes = std::uint32_t __attribute__((vector_size(64)));

void rank(const std::uint32_t* keys, std::size_t n, std::uint32_t* rank) {
  constexpr std::size_t kLanes = sizeof(RankLanes) / sizeof(std::uint32_t);
  for (std::size_t at = 0; at < n; at += kLanes) {
    RankLanes own;
    RankLanes below{};
    __builtin_memcpy(&own, keys + at, sizeof own);
    for (std::size_t i = 0; i < n; ++i) below -= reinterpret_cast<RankLanes>(keys[i] < own);
    __builtin_memcpy(rank + at, &below, sizeof below);
  }
}

MinMax min_max(const std::int64_t* x, std::size_t n) {
  MinMax m{x[0], x[0]};
  for (std::size_t i = 0; i < n; ++i) {
    m.min = x[i] < m.min ? x[i] : m.min;
    m.max = x[i] > m.max ? x[i] : m.max;
  }
  return m;
}

// Block by block, so that the compiler may look at many at once.
std::size_t find(const std::int64_t* x, std::size_t n, std::int64_t value) {
  constexpr std::size_t kBlock = 64;
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    std::int64_t n_found = 0;
    for (std::size_t j = 0; j < kBlock; ++j) n_found += x[i + j] == value;
    if (n_found > 0) break;
  }
  while (i < n && x[i] != value) ++i;
  return i;
}

}  // namespace

extern const Kernels ARBOLEDA_KERNELS;
const Kernels ARBOLEDA_KERNELS{ARBOLEDA_LEVEL,
                               gather<std::uint8_t>,
                               gather<std::uint16_t>,
                               gather<std::uint32_t>,
                               make_keys,
                               rank,
                               min_max,
                               find,
                               kHistogramKernels,
                               kMath,
                               kCodingKernels,
                               kFlagKernels,
                               kNumberKernels,
                               kRandomKernels,
                               kStumpKernels,
                               kScoreKernels,
                               kShapKernels,
                               kTreeKernels,
                               kWeightKernels};

}  // namespace arboleda
