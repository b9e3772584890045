#include "base/thread_pool.h"

#include <doctest/doctest.h>
#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace arboleda {

TEST_CASE("every task runs exactly once, for any number of threads") {
  for (const int n_threads : {1, 2, 3, 8}) {
    std::vector<std::atomic<int>> runs(1000);
    parallel_for(n_threads, runs.size(), [&](std::size_t task, int worker) {
      CHECK_GE(worker, 0);
      CHECK_LT(worker, n_threads);
      ++runs[task];
    });
    for (const auto& r : runs) CHECK(r == 1);
  }
}

TEST_CASE("no two tasks share a worker number at the same time") {
  std::vector<std::atomic<int>> busy(4);
  std::atomic<bool> clash{false};
  parallel_for(4, 2000, [&](std::size_t, int worker) {
    if (busy[static_cast<std::size_t>(worker)].fetch_add(1) != 0) clash = true;
    std::this_thread::yield();
    busy[static_cast<std::size_t>(worker)].fetch_sub(1);
  });
  CHECK_FALSE(clash);
}

TEST_CASE("a nested loop runs inline and is complete") {
  std::atomic<int> sum{0};
  parallel_for(4, 10, [&](std::size_t, int) {
    parallel_for(4, 10, [&](std::size_t, int worker) {
      CHECK(worker == 0);
      ++sum;
    });
  });
  CHECK(sum == 100);
}

TEST_CASE("the exception of a task reaches the caller, and the pool works on") {
  CHECK_THROWS_WITH(parallel_for(4, 100,
                                 [](std::size_t task, int) {
                                   if (task == 3) throw std::runtime_error("task 3");
                                 }),
                    "task 3");
  std::atomic<int> sum{0};
  parallel_for(4, 100, [&](std::size_t, int) { ++sum; });
  CHECK(sum == 100);
}

TEST_CASE("callers on several threads do not wait for each other's result") {
  std::vector<std::thread> callers;
  std::atomic<int> sum{0};
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(3, 20, [&](std::size_t, int) { ++sum; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(sum == 8 * 50 * 20);
}

#if !defined(_WIN32) && \
    !defined(__SANITIZE_THREAD__)  // ThreadSanitizer does not follow a fork of many threads
TEST_CASE("after a fork the child has a working pool of its own") {
  parallel_for(4, 100, [](std::size_t, int) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> sum{0};
    parallel_for(4, 100, [&](std::size_t, int) { ++sum; });
    _exit(sum == 100 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

}  // namespace arboleda
