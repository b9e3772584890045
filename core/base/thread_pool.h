// One process-wide pool of threads.
//
// - Threads start when first needed; between jobs they stay awake for a moment, then sleep.
// - A job started from inside a job, or while another caller's job runs, runs on the calling
//   thread alone: nesting and many callers never wait for each other.
// - After fork() the child starts with an empty pool of its own.
// - Where the system refuses a thread, the job runs on those there are.
// Which thread runs which task is not determined; results must not depend on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace arboleda {

// Cells (rows x columns) from which work is worth waking other threads for. Two threads on two cores
// gain from 2^10 on (benchmarks/core_threads.cc); the rest is room for machines slower to wake.
inline constexpr std::size_t kParallelWork = std::size_t{1} << 12;

// Runs body(task, worker) for task = 0 .. n_tasks-1 on at most n_threads threads, the caller being
// one of them, and returns when all are done. 0 <= worker < n_threads, and no two tasks run at the
// same time with the same worker number. The exception of the lowest failing task is rethrown;
// tasks not yet begun are then skipped.
void parallel_for(int n_threads, std::size_t n_tasks,
                  const std::function<void(std::size_t task, int worker)>& body);

// The numbers 0 .. n-1 in blocks of neighbours, of `size` each but for the last: runs
// body(block, begin, end) for every block. Blocks do not depend on the number of threads, so what is
// put together block after block does not either.
template <class Body>
void parallel_blocks(int n_threads, std::size_t n, std::size_t size, const Body& body) {
  parallel_for(n_threads, (n + size - 1) / size, [&](std::size_t block, int) {
    body(block, block * size, std::min(n, (block + 1) * size));
  });
}

}  // namespace arboleda
