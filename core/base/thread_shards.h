// Shards of a table as threads of one process, for tests.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "base/shards.h"

namespace arboleda {

class ThreadShards final : public Shards {
 public:
  // What the threads share.
  struct Board {
    explicit Board(std::size_t count)
        : barrier(static_cast<std::ptrdiff_t>(count)), values(count) {}
    std::barrier<> barrier;
    std::vector<std::span<const std::uint64_t>> values;  // of each shard
  };

  ThreadShards(Board& board, std::size_t number, std::uint64_t first_row)
      : Shards(number, board.values.size(), first_row), board_(board) {}

  void add(std::span<std::uint64_t> values) const override {
    put_together(values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  void maximum(std::span<std::uint64_t> values) const override {
    put_together(values, [](std::uint64_t a, std::uint64_t b) { return a > b ? a : b; });
  }

 private:
  template <class Join>
  void put_together(std::span<std::uint64_t> values, const Join& join) const {
    const std::vector<std::uint64_t> own(values.begin(), values.end());
    board_.values[number()] = own;
    board_.barrier.arrive_and_wait();
    for (std::size_t s = 0; s < count(); ++s) {
      for (std::size_t i = 0; s != number() && i < values.size(); ++i) {
        values[i] = join(values[i], board_.values[s][i]);
      }
    }
    board_.barrier.arrive_and_wait();
  }

  Board& board_;
};

// Runs body(shards) once for each shard, at the same time. Shard s begins with row first_rows[s].
inline void run_shards(std::span<const std::uint64_t> first_rows,
                       const std::function<void(const Shards&)>& body) {
  ThreadShards::Board board(first_rows.size());
  std::vector<std::thread> threads;
  for (std::size_t s = 0; s < first_rows.size(); ++s) {
    threads.emplace_back(
        [&board, &body, &first_rows, s] { body(ThreadShards(board, s, first_rows[s])); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace arboleda
