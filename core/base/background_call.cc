#include "base/background_call.h"

#include <cstddef>
#include <utility>

namespace arboleda {

namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 17;

}  // namespace

void BackgroundCall::start(std::function<void()> body) {
  body_ = std::move(body);
  failure_ = nullptr;
#if !defined(_WIN32)
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  const auto run_on_thread = [](void* call) -> void* {
    static_cast<BackgroundCall*>(call)->run();
    return nullptr;
  };
  has_thread_ = pthread_attr_setstacksize(&attributes, kStackBytes) == 0 &&
                pthread_create(&thread_, &attributes, run_on_thread, this) == 0;
  pthread_attr_destroy(&attributes);
#endif
}

void BackgroundCall::finish() {
  if (has_thread_) {
    join();
  } else {
    run();
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BackgroundCall::run() {
  try {
    body_();
  } catch (...) {
    failure_ = std::current_exception();
  }
}

void BackgroundCall::join() {
#if !defined(_WIN32)
  if (has_thread_) pthread_join(thread_, nullptr);
#endif
  has_thread_ = false;
}

}  // namespace arboleda
