#include "tree/leaf_sums.h"

#include <algorithm>
#include <cstddef>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Rows of one task; larger leaves are summed in pieces, by several threads.
constexpr std::size_t kSummedBlockRows = std::size_t{1} << 14;

// Rows from now whose values are fetched.
constexpr std::size_t kAhead = 64;

struct Piece {
  std::size_t leaf, begin, end;
  ExactSum sum = {};
};

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
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const LeafRows::Leaf& leaf = leaves.leaves[i];
    for (std::size_t begin = leaf.begin; begin < leaf.end; begin += kSummedBlockRows) {
      pieces.push_back({i, begin, std::min(begin + kSummedBlockRows, leaf.end)});
    }
  }
  const bool is_large = leaves.rows.size() > kSummedBlockRows;
  parallel_for(is_large ? context.n_threads() : 1, pieces.size(), [&](std::size_t i, int) {
    Piece& piece = pieces[i];
    ExactSum sum;
    for (std::size_t row = piece.begin; row < piece.end; ++row) {
      if (row + kAhead < piece.end) ARBOLEDA_PREFETCH(&values[leaves.rows[row + kAhead]]);
      sum.add(scale, values[leaves.rows[row]]);
    }
    piece.sum = sum;
  });
  for (const Piece& piece : pieces) sums[piece.leaf].add(piece.sum);
  return sums;
}

}  // namespace arboleda
