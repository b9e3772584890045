#include "tree/leaf_sums.h"

#include <algorithm>
#include <cstddef>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Rows of one task, whose values stay near.
constexpr std::size_t kSummedBlockRows = std::size_t{1} << 14;

// Rows from now whose values are fetched.
constexpr std::size_t kAhead = 64;

}  // namespace

Magnitude magnitude_of_rows(std::span<const double> values, std::span<const RowIndex> rows,
                            const Context& context) {
  if (values.empty()) return {};
  std::vector<Magnitude> parts((rows.size() + kSummedBlockRows - 1) / kSummedBlockRows);
  parallel_blocks(
      context.n_threads(), rows.size(), kSummedBlockRows,
      [&](std::size_t block, std::size_t begin, std::size_t end) {
        if (rows.size() == values.size()) {
          parts[block].see_bits(kernels().histograms.largest(&values[begin], end - begin));
        } else {
          for (std::size_t i = begin; i < end; ++i) parts[block].see(values[rows[i]]);
        }
      });
  Magnitude largest;
  for (const Magnitude& part : parts) largest.see(part);
  return largest;
}

std::vector<ExactSum> sum_leaves(std::span<const double> values, const SumScale& scale,
                                 const LeafRows& leaves, const Context& context) {
  std::vector<ExactSum> sums(leaves.leaves.size());
  if (values.empty()) return sums;
  const std::size_t n_blocks = count_row_blocks(leaves, kSummedBlockRows);
  const int n_threads = leaves.rows.size() > kSummedBlockRows ? context.n_threads() : 1;
  // The first worker's are those of all; the others have some of their own where they meet its leaves.
  std::vector<std::vector<ExactSum>> parts(static_cast<std::size_t>(n_threads));
  for_each_leaf_by_blocks(
      leaves, n_blocks, n_threads,
      [&](std::size_t first, std::size_t last, int) { fetch(values.subspan(first, last - first)); },
      [&](std::size_t leaf, std::size_t begin, std::size_t end, int worker) {
        auto& mine = n_blocks == 1 || worker == 0 ? sums : parts[static_cast<std::size_t>(worker)];
        if (mine.empty()) mine.resize(sums.size());
        ExactSum sum;
        for (std::size_t i = begin; i < end; ++i) {
          if (i + kAhead < end) ARBOLEDA_PREFETCH(&values[leaves.rows[i + kAhead]]);
          sum.add(scale, values[leaves.rows[i]]);
        }
        mine[leaf].add(sum);
      });
  for (const std::vector<ExactSum>& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) sums[i].add(part[i]);
  }
  return sums;
}

}  // namespace arboleda
