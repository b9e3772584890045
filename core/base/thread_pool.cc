#include "base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace arboleda {

namespace {

using Body = std::function<void(std::size_t, int)>;

// Boosting asks for jobs of some ten microseconds one after the other. Waking a sleeping thread takes
// as long, so threads stay awake this long for the next job, or for the others' end of this one,
// unless there are fewer processors than threads.
constexpr auto kAwake = std::chrono::microseconds(60);

int n_processors() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

// True once `happened` is; false if it is not in time.
template <class Happened>
bool stay_awake_until(const Happened& happened) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 64; ++i) {
      if (happened()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
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
  std::atomic<int> n_active{0};  // pool threads at work; changed under Pool::state_
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

class Pool {
 public:
  // False when another caller's job is running.
  bool try_run(Job& job) {
    std::unique_lock owner(busy_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    {
      const std::lock_guard lock(state_);
      start_threads(job.n_threads - 1);
      job_ = &job;
      ++generation_;
    }
    wake_.notify_all();
    inside_job = true;
    job.work(0);
    inside_job = false;
    std::unique_lock lock(state_);
    job_ = nullptr;
    if (job.n_active != 0 && stays_awake(job.n_threads)) {
      lock.unlock();
      stay_awake_until([&] { return job.n_active.load(std::memory_order_acquire) == 0; });
      lock.lock();
    }
    done_.wait(lock, [&] { return job.n_active == 0; });
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

  void serve(int worker) {
    inside_job = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(state_);
    for (;;) {
      const auto is_wanted = [&] {
        return job_ != nullptr && generation_ != seen && worker < job_->n_threads;
      };
      if (seen != 0 && !is_wanted() && stays_awake(worker + 1)) {
        const std::uint64_t last = generation_;
        lock.unlock();
        stay_awake_until([&] { return generation_.load(std::memory_order_acquire) != last; });
        lock.lock();
      }
      wake_.wait(lock, is_wanted);
      seen = generation_;
      Job& job = *job_;
      ++job.n_active;
      lock.unlock();
      job.work(worker);
      lock.lock();
      if (--job.n_active == 0) done_.notify_one();
    }
  }

  std::mutex busy_;   // held by the caller whose job runs
  std::mutex state_;  // guards what follows
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;
  std::atomic<std::uint64_t> generation_{0};  // changed under state_
  int n_started_ = 0;
  const int n_processors_ = n_processors();
};

// Never destroyed: its threads sleep until the process ends.
std::atomic<Pool*> pool{nullptr};

Pool& current_pool() {
  static const bool initialised = [] {
    pool.store(new Pool);
    // Only the forking thread lives on in a child; the parent's pool there is a memory of threads
    // that do not exist, so it is replaced, not destroyed.
    pthread_atfork(nullptr, nullptr, [] {
      pool.store(new Pool);
      inside_job = false;
    });
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
