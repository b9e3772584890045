#include <new>

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
            case ErrorKind::bad_format:
              // Defined in Python, where its page is written and its pickles are found.
              PyErr_SetString(
                  nb::module_::import_("arboleda._utils.errors").attr("ModelFormatError").ptr(),
                  error.what());
              break;
            case ErrorKind::interrupted:
              // Set by the signal's own handler, unless it was something else that stopped us.
              if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
              break;
            case ErrorKind::shard_lost:
              PyErr_SetString(
                  nb::module_::import_("arboleda._utils.errors").attr("ShardLostError").ptr(),
                  error.what());
              break;
            case ErrorKind::internal:
              PyErr_SetString(PyExc_RuntimeError, error.what());
              break;
          }
        } catch (const std::bad_alloc&) {
          // The last resort: what grows with rows and classes is estimated before it is allocated.
          PyErr_SetString(PyExc_MemoryError,
                          "the engine could not get the memory that it needs: give fewer rows, "
                          "columns or classes, fewer or smaller trees, or a machine with more "
                          "memory");
        }
      },
      nullptr);
}

}  // namespace arboleda::python
