#include "areas.h"
#include "base/error.h"

namespace arboleda::python {

void init_errors(nb::module_&) {
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void*) {
        try {
          std::rethrow_exception(p);
        } catch (const Error& error) {
          switch (error.kind()) {
            case ErrorKind::invalid_argument:
              PyErr_SetString(PyExc_ValueError, error.what());
              break;
            case ErrorKind::interrupted:
              // Set by the signal's own handler, unless it was something else that stopped us.
              if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
              break;
            case ErrorKind::internal:
              PyErr_SetString(PyExc_RuntimeError, error.what());
              break;
          }
        }
      },
      nullptr);
}

Context make_context(int n_threads, std::uint64_t seed) {
  return Context(n_threads, seed, [] {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  });
}

}  // namespace arboleda::python
