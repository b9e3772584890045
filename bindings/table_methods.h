// One method of a model under two signatures: dense columns, and the three arrays of a CSR matrix.
#pragma once

#include <nanobind/nanobind.h>

#include "areas.h"
#include "arrays.h"

namespace arboleda::python {

// method(model, table, n_threads, more..) for both forms of a table; called with the GIL held.
template <class... More, class Model, class Method, class... Args>
void def_table_method(nb::class_<Model>& model_class, const char* name, const Method& method,
                      const Args&... more_args) {
  model_class
      .def(
          name,
          [method](const Model& model, nb::list columns, std::size_t n_rows, int n_threads,
                   More... more) {
            return method(model, to_table(columns, n_rows), n_threads, more...);
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"), more_args...)
      .def(
          name,
          [method](const Model& model, const AnyColumn& data, const InArray<std::int32_t>& indices,
                   const InArray<std::int64_t>& indptr, std::size_t n_columns, int n_threads,
                   More... more) {
            return method(model, to_rows(data, indices, indptr, n_columns), n_threads, more...);
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"),
          nb::arg("n_threads"), more_args...);
}

}  // namespace arboleda::python
