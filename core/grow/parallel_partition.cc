#include "grow/parallel_partition.h"

#include <algorithm>
#include <type_traits>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "data/gather_codes.h"

namespace arboleda {

namespace {

// Rows of one task.
constexpr std::size_t kPartitionBlockRows = std::size_t{1} << 13;

}  // namespace

std::vector<std::uint8_t> list_left_codes(const CodedColumn& column, const Split& split) {
  std::vector<std::uint8_t> goes_left(column.n_codes(), 0);
  if (split.left_codes.empty()) {
    std::fill_n(goes_left.begin(), std::min<std::size_t>(split.code + 1, column.n_values), 1);
    if (column.has_missing) goes_left[column.get_missing_code()] = split.missing_left;
  }
  for (const Code code : split.left_codes) goes_left[code] = 1;
  return goes_left;
}

std::size_t ParallelPartition::part(const CodedColumn& column, const Split& split,
                                    std::span<RowIndex> rows, int n_threads) {
  goes_left_ = list_left_codes(column, split);
  return std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          gather_codes(column, rows, codes_);
          return part_by(rows, 0, n_threads, [&](std::size_t i, RowIndex) { return codes_[i]; });
        } else {
          return part_by(rows, 0, n_threads,
                         [&](std::size_t, RowIndex row) { return Code{codes[row]}; });
        }
      },
      column.codes);
}

std::size_t ParallelPartition::part(std::span<const std::uint64_t> left, std::span<RowIndex> rows,
                                    int n_threads) {
  goes_left_ = {0, 1};
  return part_by(rows, 0, n_threads, [&](std::size_t i, RowIndex) {
    return static_cast<Code>(left[i / 64] >> i % 64 & 1);
  });
}

template <class CodeAt>
std::size_t ParallelPartition::part_by(std::span<RowIndex> rows, std::size_t first, int n_threads,
                                       const CodeAt& code_at) {
  const std::size_t n = rows.size();
  if (n <= most_buffered_) return part_buffered(rows, first, n_threads, code_at);
  const std::size_t half = n / 2;
  const std::size_t n_left = part_by(rows.first(half), first, n_threads, code_at);
  const std::size_t more = part_by(rows.subspan(half), first + half, n_threads, code_at);
  const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  std::rotate(at(n_left), at(half), at(half + more));
  return n_left + more;
}

// Every block is parted into its place of the scratch, the right side from the end backwards; then the
// blocks' sides are put where they belong. The left side of one block alone is where it belongs at once.
template <class CodeAt>
std::size_t ParallelPartition::part_buffered(std::span<RowIndex> rows, std::size_t first,
                                             int n_threads, const CodeAt& code_at) {
  const std::size_t n = rows.size();
  reserve_large(scratch_, n);
  if (scratch_.size() < n) scratch_.resize(n);
  const std::size_t block_rows = n_threads > 1 ? kPartitionBlockRows : std::max<std::size_t>(n, 1);
  const std::size_t n_blocks = (n + block_rows - 1) / block_rows;
  std::vector<std::size_t> first_left(n_blocks + 1);
  const auto part_block = [&](std::size_t block, std::size_t begin, std::size_t end) {
    RowIndex* const lefts = n_blocks == 1 ? rows.data() : scratch_.data() + begin;
    RowIndex* left = lefts;
    RowIndex* right = scratch_.data() + end - 1;
    for (std::size_t i = begin; i < end; ++i) {
      const RowIndex row = rows[i];
      const std::size_t goes_left = goes_left_[code_at(first + i, row)];
      // Both are written and one kept: no branch to predict.
      *left = row;
      *right = row;
      left += goes_left;
      right -= 1 - goes_left;
    }
    first_left[block + 1] = static_cast<std::size_t>(left - lefts);
  };
  parallel_blocks(n_threads, n, block_rows, part_block);
  for (std::size_t block = 0; block < n_blocks; ++block) first_left[block + 1] += first_left[block];
  const std::size_t n_left = first_left[n_blocks];
  const auto place_block = [&](std::size_t block, std::size_t begin, std::size_t end) {
    const std::size_t in_left = first_left[block + 1] - first_left[block];
    const RowIndex* const from = scratch_.data() + begin;
    if (n_blocks > 1) std::copy_n(from, in_left, rows.data() + first_left[block]);
    std::reverse_copy(from + in_left, from + (end - begin),
                      rows.data() + n_left + begin - first_left[block]);
  };
  parallel_blocks(n_threads, n, block_rows, place_block);
  return n_left;
}

}  // namespace arboleda
