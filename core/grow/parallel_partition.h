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

class ParallelPartition {
 public:
  // rows: ascending. Afterwards those that go left come first, and both sides keep their order.
  // Returns how many they are.
  std::size_t part(const CodedColumn& column, const Split& split, std::span<RowIndex> rows,
                   int n_threads);

 private:
  template <class CodeAt>
  std::size_t part_by(std::span<RowIndex> rows, int n_threads, const CodeAt& code_at);

  std::vector<RowIndex> scratch_;
  std::vector<std::uint8_t> goes_left_;  // for each code
  std::vector<Code> codes_;
};

}  // namespace arboleda
