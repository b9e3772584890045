// The stop flag: Ctrl-C, and the request of the thread that started this one.
#include <atomic>
#include <memory>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "areas.h"
#include "simd/kernels.h"

namespace arboleda::python {

namespace {

struct StopFlag {
  std::shared_ptr<std::atomic<bool>> is_set = std::make_shared<std::atomic<bool>>(false);
};

// Signals reach the main thread only. A thread that it started looks at the flag it was given.
thread_local std::shared_ptr<std::atomic<bool>> flag_of_this_thread;

}  // namespace

Context make_context(int n_threads, std::uint64_t seed, const Shards* shards) {
  const auto wants_stop = [flag = flag_of_this_thread] {
    if (flag && flag->load(std::memory_order_relaxed)) return true;
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  };
  return Context(n_threads, seed, wants_stop, shards);
}

void init_context(nb::module_& m) {
  m.def(
      "simd_levels",
      [] {
        std::vector<std::string> names;
        for (const Kernels* level : all_kernels()) names.emplace_back(level->level);
        return names;
      },
      "Levels of this machine's instructions that the engine has loops for, narrowest first.");
  m.def("simd_level", [] { return std::string(kernels().level); }, "The level in use.");

  nb::class_<StopFlag>(m, "StopFlag", "Stops the engine's work on the threads that obey it.")
      .def(nb::init<>())
      .def("set", [](StopFlag& flag) { flag.is_set->store(true, std::memory_order_relaxed); });

  m.def(
      "obey",
      [](const StopFlag* flag) { flag_of_this_thread = flag == nullptr ? nullptr : flag->is_set; },
      nb::arg("flag").none(), "Let the calls of this thread poll a stop flag; None removes it.");
}

}  // namespace arboleda::python
