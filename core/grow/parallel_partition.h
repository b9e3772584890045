// Stable partition of a node's row list on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "split/split.h"

namespace arboleda {

// A buffer as long as the whole list would be among the largest arrays of a fit.
inline constexpr std::size_t kMostBufferedRows = std::size_t{1} << 22;

// Whether rows of each code go left.
std::vector<std::uint8_t> list_left_codes(const CodedColumn& column, const Split& split);

class ParallelPartition {
 public:
  // Up to so many rows are parted with a buffer; more are halved, and the halves joined by a rotation.
  explicit ParallelPartition(std::size_t most_buffered = kMostBufferedRows)
      : most_buffered_(most_buffered) {}

  // rows: ascending. Afterwards those that go left come first, and both sides keep their order.
  // Returns how many they are.
  std::size_t part(const CodedColumn& column, const Split& split, std::span<RowIndex> rows,
                   int n_threads);

  // The same by a bit for each of the rows: whether it goes left.
  std::size_t part(std::span<const std::uint64_t> left, std::span<RowIndex> rows, int n_threads);

 private:
  // first: place of the first of these rows in the node.
  template <class CodeAt>
  std::size_t part_by(std::span<RowIndex> rows, std::size_t first, int n_threads,
                      const CodeAt& code_at);
  template <class CodeAt>
  std::size_t part_buffered(std::span<RowIndex> rows, std::size_t first, int n_threads,
                            const CodeAt& code_at);

  std::size_t most_buffered_;
  std::vector<RowIndex> scratch_;
  std::vector<std::uint8_t> goes_left_;  // for each code
  std::vector<Code> codes_;
};

}  // namespace arboleda
