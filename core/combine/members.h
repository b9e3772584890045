// The outputs of the members of a combination for rows. Views of the caller's arrays: nothing is copied.
//
//   outputs[l]  row 0: | class 0 | class 1 | ... | row 1: | class 0 | ...      member l = 0 .. L-1
//
// Rules go through the rows in blocks; a block of all classes is a run of neighbouring cells in every
// member. Members are added in their order, so that no sum depends on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

// Probabilities of classes, or values: these have one "class".
struct Members {
  std::vector<const double*> outputs;
  std::size_t n_rows = 0;
  std::size_t n_classes = 0;

  std::size_t size() const { return outputs.size(); }
};

// The number of the class that each member chose, row after row.
struct Choices {
  std::vector<const std::int32_t*> chosen;
  std::size_t n_rows = 0;
  std::size_t n_classes = 0;

  std::size_t size() const { return chosen.size(); }
};

// Cells of a block: with a few blocks of this size, what a thread works on stays in its first cache.
inline constexpr std::size_t kBlockCells = std::size_t{1} << 11;

// Rows first .. first + n_rows - 1, and where their result goes.
struct OutputBlock {
  std::size_t first;
  std::size_t n_rows;
  std::size_t n_classes;
  double* out;

  std::size_t n_cells() const { return n_rows * n_classes; }
  std::size_t first_cell() const { return first * n_classes; }
};

// Runs body(block) for blocks of rows that together are all, and returns what they put in `out`:
// (rows, classes), 0 before.
template <class Body>
std::vector<double> for_row_blocks(std::size_t n_rows, std::size_t n_classes,
                                   const Context& context, const Body& body) {
  require(n_classes > 0, "a combination needs at least one class");
  std::vector<double> out(n_rows * n_classes);
  const std::size_t size = std::max<std::size_t>(1, kBlockCells / n_classes);
  const int n_threads = out.size() < kParallelWork ? 1 : context.n_threads();
  parallel_blocks(n_threads, n_rows, size, [&](std::size_t, std::size_t begin, std::size_t end) {
    context.check();
    body(OutputBlock{begin, end - begin, n_classes, out.data() + begin * n_classes});
  });
  return out;
}

}  // namespace arboleda
