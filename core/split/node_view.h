// A node as the search of a split sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "split/split.h"

namespace arboleda {

// A histogram is built, cleared and scanned slot by slot; it pays while the node has at least one
// row for every so many slots. Between 2 and 8 a full tree on Adult or MNIST takes the same time.
inline constexpr std::size_t kSlotsARow = 4;

template <class Criterion>
struct NodeView {
  std::span<const RowIndex> rows;  // ascending
  const typename Criterion::Local& local;
  const typename Criterion::Slot* total;
  std::uint64_t key = 0;  // its path from the root, for randomness
  Bounds bounds = {};     // of its predictions
};

}  // namespace arboleda
