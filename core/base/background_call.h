// A call that mostly waits, for a disk, beside the work of the pool of threads.
#pragma once

#include <exception>
#include <functional>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace arboleda {

class BackgroundCall {
 public:
  BackgroundCall() = default;
  BackgroundCall(const BackgroundCall&) = delete;
  ~BackgroundCall() { join(); }

  // Runs the body on a thread of its own, with a stack of 128 kB: of a thread's usual stack, memory limits
  // count all. Where the system refuses a thread, finish() runs it.
  void start(std::function<void()> body);

  // Returns when the body has returned, and rethrows what it has thrown.
  void finish();

 private:
  void run();
  void join();

  std::function<void()> body_;
  std::exception_ptr failure_;
#if !defined(_WIN32)
  pthread_t thread_{};
#endif
  bool has_thread_ = false;
};

}  // namespace arboleda
