// Tables and their codes.
#include "data/coded_table.h"

#include <nanobind/stl/string.h>

#include "areas.h"
#include "arrays.h"

namespace arboleda::python {

namespace {

using AnyColumn = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::device::cpu>;

DType dtype_of(const AnyColumn& column) {
  const auto type = column.dtype();
  if (type == nb::dtype<double>()) return DType::float64;
  if (type == nb::dtype<float>()) return DType::float32;
  if (type == nb::dtype<std::int8_t>()) return DType::int8;
  if (type == nb::dtype<std::int16_t>()) return DType::int16;
  if (type == nb::dtype<std::int32_t>()) return DType::int32;
  if (type == nb::dtype<std::int64_t>()) return DType::int64;
  if (type == nb::dtype<std::uint8_t>()) return DType::uint8;
  if (type == nb::dtype<std::uint16_t>()) return DType::uint16;
  if (type == nb::dtype<std::uint32_t>()) return DType::uint32;
  if (type == nb::dtype<std::uint64_t>()) return DType::uint64;
  if (type == nb::dtype<bool>()) return DType::boolean;
  throw Error(ErrorKind::invalid_argument, "a column has a type that the engine does not read");
}

}  // namespace

TableView to_table(nb::list columns, std::size_t n_rows) {
  TableView table;
  table.n_rows = n_rows;
  table.columns.reserve(columns.size());
  for (nb::handle item : columns) {
    const auto column = nb::cast<AnyColumn>(item);
    require(column.shape(0) == n_rows, "a column has not the table's number of rows");
    const auto item_size = static_cast<std::ptrdiff_t>(column.itemsize());
    table.columns.push_back({static_cast<const std::byte*>(column.data()),
                             column.stride(0) * item_size, dtype_of(column)});
  }
  return table;
}

void init_data(nb::module_& m) {
  nb::class_<CodedTable>(m, "CodedTable", "Columns as rank codes; made once, read by every fit.")
      .def(
          "__init__",
          [](CodedTable* self, nb::list columns, std::size_t n_rows, int n_threads) {
            const TableView table = to_table(columns, n_rows);
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            new (self) CodedTable(code_table(table, context));
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
      .def_ro("n_rows", &CodedTable::n_rows)
      .def_prop_ro("n_features", &CodedTable::n_features);
}

}  // namespace arboleda::python
