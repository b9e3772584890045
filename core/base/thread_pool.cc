#include "base/thread_pool.h"

#if !defined(_WIN32)
#include <pthread.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/compiler.h"

namespace arboleda {

namespace {

using Body = std::function<void(std::size_t, int)>;

// Boosting starts jobs of some ten microseconds one after the other. Waking a sleeping thread takes
// as long, so threads stay awake this long for the next job, or for the others' end of this one,
// unless there are fewer processors than threads.
constexpr auto kAwake = std::chrono::microseconds(60);

// Those that this process may use, where the system can name them.
int n_processors() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
#else
  return static_cast<int>(std::thread::hardware_concurrency());
#endif
}

// True once `happened` is; false if it is not in time.
template <class Happened>
bool stay_awake_until(const Happened& happened) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 64; ++i) {
      if (happened()) return true;
      ARBOLEDA_PAUSE();
    }
  } while (std::chrono::steady_clock::now() - start < kAwake);
  return false;
}

// True on a thread that is inside a job: a nested job then runs inline.
thread_local bool inside_job = false;

struct Job {
  Job(const Body& task_body, std::size_t tasks, int threads)
      : body(task_body), n_tasks(tasks), n_threads(threads) {}

  const Body& body;
  const std::size_t n_tasks;
  const int n_threads;
  std::atomic<std::size_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  std::size_t failed_task = 0;

  void work(int worker) {
    for (;;) {
      const std::size_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= n_tasks) return;
      try {
        body(task, worker);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure || task < failed_task) {
          failure = std::current_exception();
          failed_task = task;
        }
        next.store(n_tasks, std::memory_order_relaxed);
      }
    }
  }
};

// A job is handed over by atomics alone while threads are awake; the mutex is for those that sleep.
//
// A thread marks itself as inside before it looks for the job, and the caller takes the job away before
// it looks whether anyone is inside: in the one order of these operations, either the thread finds no
// job or the caller waits for it. In the same way a thread counts itself asleep before it looks once
// more for a job, and the caller marks itself as waiting before it checks once more who is inside.
class Pool {
 public:
  // False when another caller's job is running.
  bool try_run(Job& job) {
    std::unique_lock owner(busy_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    start_threads(job.n_threads - 1);
    job_ = &job;
    n_wanted_ = job.n_threads;
    ++generation_;
    if (n_asleep_ > 0) {
      {
        const std::lock_guard lock(state_);
      }
      wake_.notify_all();
    }
    inside_job = true;
    job.work(0);
    inside_job = false;
    job_ = nullptr;
    wait_for_others(job.n_threads);
    return true;
  }

 private:
  void start_threads(int wanted) {
    try {
      for (; n_started_ < wanted; ++n_started_) {
        std::thread(&Pool::serve, this, n_started_ + 1).detach();
      }
    } catch (const std::system_error&) {
      // The system refuses more threads: the job runs on those there are.
    }
  }

  bool stays_awake(int n_threads) const { return n_threads <= n_processors_; }

  void wait_for_others(int n_threads) {
    const auto all_left = [&] { return n_inside_ == 0; };
    if (all_left() || (stays_awake(n_threads) && stay_awake_until(all_left))) return;
    std::unique_lock lock(state_);
    owner_waits_ = true;
    done_.wait(lock, all_left);
    owner_waits_ = false;
  }

  void serve(int worker) {
    inside_job = true;
    std::uint64_t seen = 0;
    for (;;) {
      const auto is_wanted = [&] { return generation_ != seen && worker < n_wanted_; };
      if (seen == 0 || !stays_awake(worker + 1) || !stay_awake_until(is_wanted)) {
        std::unique_lock lock(state_);
        ++n_asleep_;
        wake_.wait(lock, is_wanted);
        --n_asleep_;
      }
      seen = generation_;
      ++n_inside_;
      if (Job* job = job_; job != nullptr && worker < job->n_threads) job->work(worker);
      if (--n_inside_ == 0 && owner_waits_) {
        const std::lock_guard lock(state_);
        done_.notify_one();
      }
    }
  }

  std::mutex busy_;   // held by the caller whose job runs
  std::mutex state_;  // of those that sleep
  std::condition_variable wake_;
  std::condition_variable done_;
  std::atomic<Job*> job_{nullptr};
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> n_wanted_{0};  // threads of the last job
  std::atomic<int> n_inside_{0};  // threads that may be at work on it
  std::atomic<int> n_asleep_{0};
  std::atomic<bool> owner_waits_{false};
  int n_started_ = 0;
  const int n_processors_ = n_processors();
};

// Never destroyed: its threads sleep until the process ends.
std::atomic<Pool*> pool{nullptr};

Pool& current_pool() {
  static const bool initialised = [] {
    pool.store(new Pool);
#if !defined(_WIN32)  // which has no fork
    // Only the forking thread lives on in a child; the parent's pool there is a memory of threads
    // that do not exist, so it is replaced, not destroyed.
    pthread_atfork(nullptr, nullptr, [] {
      pool.store(new Pool);
      inside_job = false;
    });
#endif
    return true;
  }();
  (void)initialised;
  return *pool.load();
}

}  // namespace

void parallel_for(int n_threads, std::size_t n_tasks, const Body& body) {
  if (n_threads > 1 && n_tasks > 1 && !inside_job) {
    Job job(body, n_tasks, n_threads);
    if (current_pool().try_run(job)) {
      if (job.failure) std::rethrow_exception(job.failure);
      return;
    }
  }
  for (std::size_t task = 0; task < n_tasks; ++task) body(task, 0);
}

}  // namespace arboleda
