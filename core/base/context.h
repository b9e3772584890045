// What a caller passes to every long-running part of the engine. No globals: a Context is passed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/error.h"

namespace arboleda {

class Shards;

class Context {
 public:
  // `interrupted` is polled now and then, only on the thread that made the Context (the one that may
  // take an interpreter's lock); when it returns true, every thread stops at its next check().
  // `shards`: of the table, or null where it is whole; they must outlive this.
  explicit Context(int n_threads = 1, std::uint64_t seed = 0,
                   std::function<bool()> interrupted = nullptr, const Shards* shards = nullptr)
      : n_threads_(n_threads), seed_(seed), interrupted_(std::move(interrupted)), shards_(shards) {}

  int n_threads() const { return n_threads_; }
  std::uint64_t seed() const { return seed_; }
  const Shards* shards() const { return shards_; }

  // True once the caller wants to stop. Cheap enough for once per node.
  bool wants_stop() const {
    if (interrupted_ && !stop_.load(std::memory_order_relaxed) &&
        std::this_thread::get_id() == owner_) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last_poll_ >= kPatience) {
        last_poll_ = now;
        if (interrupted_()) stop_.store(true, std::memory_order_relaxed);
      }
    }
    return stop_.load(std::memory_order_relaxed);
  }

  // Throws Error(interrupted) once the caller wants to stop.
  void check() const {
    if (wants_stop()) throw Error(ErrorKind::interrupted, "stopped by the caller");
  }

  // For one of many tasks that run at the same time, on the thread that calls this: one thread, and
  // it stops when this Context does. It has no shards: these are called in one order, and tasks come in
  // any. This must outlive it.
  Context of_one_task() const {
    return Context(1, seed_, [this] { return wants_stop(); });
  }

 private:
  static constexpr auto kPatience = std::chrono::milliseconds(50);

  int n_threads_;
  std::uint64_t seed_;
  std::function<bool()> interrupted_;
  const Shards* shards_;
  std::thread::id owner_ = std::this_thread::get_id();
  mutable std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
  mutable std::atomic<bool> stop_{false};
};

}  // namespace arboleda
