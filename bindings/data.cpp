// Tables and their codes.
#include "data/binned_dataset.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "base/direct_file.h"
#include "base/memory.h"
#include "data/code_by_edges.h"
#include "data/gather_codes.h"
#include "data/mapped_dataset.h"
#include "layout/row_codes.h"

namespace arboleda::python {

namespace {

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

ColumnView to_view(const AnyColumn& column) {
  const auto item_size = static_cast<std::ptrdiff_t>(column.itemsize());
  return {static_cast<const std::byte*>(column.data()), column.stride(0) * item_size,
          dtype_of(column)};
}

using SomeRows = std::optional<InArray<RowIndex>>;

std::span<const RowIndex> to_rows(const SomeRows& rows) {
  if (!rows) return {};
  require(rows->size() > 0, "no row is given to learn codes from");
  return {rows->data(), rows->size()};
}

SparseColumns to_sparse_columns(const AnyColumn& data, const InArray<std::int32_t>& indices,
                                const InArray<std::int64_t>& indptr, std::size_t n_rows) {
  require(indptr.size() > 0, "a sparse table has no start of its columns");
  const std::size_t n_columns = indptr.size() - 1;
  return {n_rows, n_columns, to_lines(data, indices, indptr, n_columns, n_rows)};
}

const CodedColumn& column_of(const BinnedDataset& table, std::size_t column) {
  require(column < table.columns.size(), "the table has no such column");
  return table.columns[column];
}

// The smallest and the largest value of each code; a categorical column has none.
using MappedColumn = std::tuple<std::size_t, bool, bool, std::vector<double>, std::vector<double>>;

CodedColumn to_column(const MappedColumn& given) {
  CodedColumn column;
  std::tie(column.n_values, column.is_categorical, column.has_missing, column.values,
           column.upper) = given;
  return column;
}

// Of a file that does not fit in memory: a descriptor for direct reads, or -1; the bytes of memory that are
// available; and the bytes of rows that are read together.
using SweepArguments = std::optional<std::tuple<int, std::size_t, std::size_t>>;

std::optional<Sweeps> to_sweeps(const SweepArguments& given) {
  if (!given) return std::nullopt;
  const auto [descriptor, available, window_bytes] = *given;
  return Sweeps{descriptor < 0 ? DirectRead() : read_directly(descriptor), available,
                private_bytes().value_or(0), window_bytes};
}

BinnedDataset map_file(const InArray<std::uint8_t>& file, std::size_t n_rows,
                       std::size_t columns_at, const std::vector<MappedColumn>& given,
                       std::size_t rows_at, std::size_t stride,
                       const std::vector<FeatureIndex>& order, const SweepArguments& swept,
                       int n_threads) {
  std::vector<CodedColumn> columns;
  for (const MappedColumn& column : given) columns.push_back(to_column(column));
  const MappedLayout layout{n_rows, columns_at, rows_at, stride, order};
  const Context context = make_context(n_threads, 0);
  std::optional<Sweeps> sweeps = to_sweeps(swept);
  const nb::gil_scoped_release unlocked;
  return map_dataset({file.data(), file.size()}, layout, std::move(columns), std::move(sweeps),
                     context);
}

BinnedDataset code_with_edges(const std::vector<MappedColumn>& given, nb::list columns,
                              std::size_t n_rows, int n_threads) {
  const TableView table = to_table(columns, n_rows);
  require(given.size() == table.columns.size(), "edges are needed for every column");
  BinnedDataset coded;
  coded.n_rows = n_rows;
  for (std::size_t c = 0; c < given.size(); ++c) {
    coded.columns.push_back(to_column(given[c]));
    coded.columns[c].source = table.columns[c];
  }
  const Context context = make_context(n_threads, 0);
  const nb::gil_scoped_release unlocked;
  code_by_edges(table, context, n_threads, coded);
  return coded;
}

BinnedDataset code_sparse_shard(const std::vector<MappedColumn>& given, const AnyColumn& data,
                                const InArray<std::int32_t>& indices,
                                const InArray<std::int64_t>& indptr, std::size_t n_rows,
                                const InArray<std::int64_t>& n_entries, std::uint64_t n_rows_of_all,
                                int n_threads) {
  const SparseColumns table = to_sparse_columns(data, indices, indptr, n_rows);
  std::vector<CodedColumn> columns;
  for (const MappedColumn& column : given) columns.push_back(to_column(column));
  const Context context = make_context(n_threads, 0);
  const nb::gil_scoped_release unlocked;
  return code_shard(table, std::move(columns), {n_entries.data(), n_entries.size()}, n_rows_of_all,
                    context);
}

OutArray<Code> codes_of(const BinnedDataset& table, std::size_t column) {
  std::vector<RowIndex> rows(table.n_rows);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  std::vector<Code> codes;
  gather_codes(column_of(table, column), rows, codes);
  return to_numpy(std::move(codes));
}

}  // namespace

SparseLines to_lines(const AnyColumn& data, const InArray<std::int32_t>& index,
                     const InArray<std::int64_t>& start, std::size_t n_lines,
                     std::size_t n_across) {
  const SparseLines lines{
      {start.data(), start.size()}, {index.data(), index.size()}, to_view(data)};
  lines.check(n_lines, n_across, data.shape(0));
  return lines;
}

SparseRows to_rows(const AnyColumn& data, const InArray<std::int32_t>& indices,
                   const InArray<std::int64_t>& indptr, std::size_t n_columns) {
  require(indptr.size() > 0, "a sparse table has no start of its rows");
  const std::size_t n_rows = indptr.size() - 1;
  return {n_rows, n_columns, to_lines(data, indices, indptr, n_rows, n_columns)};
}

TableView to_table(nb::list columns, std::size_t n_rows) {
  TableView table;
  table.n_rows = n_rows;
  table.columns.reserve(columns.size());
  for (nb::handle item : columns) {
    const auto column = nb::cast<AnyColumn>(item);
    require(column.shape(0) == n_rows, "a column's number of rows differs from the table's");
    table.columns.push_back(to_view(column));
  }
  return table;
}

void init_data(nb::module_& m) {
  nb::class_<BinnedDataset>(m, "BinnedDataset", "Columns as codes; made once, read by every fit.")
      .def(
          "__init__",
          [](BinnedDataset* self, nb::list columns, std::size_t n_rows, int n_threads,
             const std::vector<std::uint32_t>& n_levels, std::size_t max_bins,
             const SomeRows& rows) {
            const TableView table = to_table(columns, n_rows);
            const Context context = make_context(n_threads, 0);
            const CodingOptions options{n_levels, max_bins, to_rows(rows)};
            const nb::gil_scoped_release unlocked;
            new (self) BinnedDataset(code_table(table, context, options));
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"), nb::arg("n_levels"),
          nb::arg("max_bins"), nb::arg("rows").none(), nb::keep_alive<1, 2>())
      .def_static(
          "from_csc",
          [](const AnyColumn& data, const InArray<std::int32_t>& indices,
             const InArray<std::int64_t>& indptr, std::size_t n_rows, int n_threads,
             std::size_t max_bins, const SomeRows& rows) {
            const SparseColumns table = to_sparse_columns(data, indices, indptr, n_rows);
            const Context context = make_context(n_threads, 0);
            const CodingOptions options{{}, max_bins, to_rows(rows)};
            const nb::gil_scoped_release unlocked;
            return code_table(table, context, options);
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_rows"),
          nb::arg("n_threads"), nb::arg("max_bins"), nb::arg("rows").none())
      .def_static(
          "like",
          [](const BinnedDataset& learned, nb::list columns, std::size_t n_rows, int n_threads) {
            const TableView table = to_table(columns, n_rows);
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            return code_table_like(learned, table, context);
          },
          nb::arg("learned"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"),
          nb::keep_alive<0, 2>())
      .def_static(
          "from_csc_like",
          [](const BinnedDataset& learned, const AnyColumn& data,
             const InArray<std::int32_t>& indices, const InArray<std::int64_t>& indptr,
             std::size_t n_rows, int n_threads) {
            const SparseColumns table = to_sparse_columns(data, indices, indptr, n_rows);
            const Context context = make_context(n_threads, 0);
            const nb::gil_scoped_release unlocked;
            return code_table_like(learned, table, context);
          },
          nb::arg("learned"), nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
          nb::arg("n_rows"), nb::arg("n_threads"))
      .def_static("by_edges", &code_with_edges, nb::arg("edges"), nb::arg("columns"),
                  nb::arg("n_rows"), nb::arg("n_threads"), nb::keep_alive<0, 2>(),
                  "Codes by given edges, with a code for missing values only where it is given.")
      .def_static("csc_by_edges", &code_sparse_shard, nb::arg("edges"), nb::arg("data"),
                  nb::arg("indices"), nb::arg("indptr"), nb::arg("n_rows"), nb::arg("n_entries"),
                  nb::arg("n_rows_of_all"), nb::arg("n_threads"),
                  "The same of a sparse shard; n_entries: of each column in all shards, not 0.")
      .def_static("of_file", &map_file, nb::arg("file"), nb::arg("n_rows"), nb::arg("columns_at"),
                  nb::arg("columns"), nb::arg("rows_at"), nb::arg("stride"), nb::arg("order"),
                  nb::arg("swept").none(), nb::arg("n_threads"), nb::keep_alive<0, 1>(),
                  "A table whose codes are read where they are, in a file mapped into memory.")
      .def(
          "byte_codes",
          [](nb::handle_t<BinnedDataset> self, std::size_t column) {
            const auto& table = nb::cast<const BinnedDataset&>(self);
            const auto* codes =
                std::get_if<CodeArray<std::uint8_t>>(&column_of(table, column).codes);
            require(codes != nullptr, "the codes of the column do not have one byte each");
            return OutArray<const std::uint8_t>(codes->data(), {codes->size()}, self);
          },
          nb::arg("column"), "One code a row: a view of those that have one byte.")
      .def("slice_rows", &slice_rows, nb::arg("begin"), nb::arg("end"), nb::keep_alive<0, 1>(),
           "Rows begin .. end - 1 as a table with the bins of this one, which shares its codes.")
      .def("row_order", &RowCodes::order, "The columns in the order of the codes of a row.")
      .def_ro("n_rows", &BinnedDataset::n_rows)
      .def_prop_ro("n_features", &BinnedDataset::n_features)
      .def("codes", &codes_of, nb::arg("column"), "One code a row.")
      .def(
          "edges",
          [](const BinnedDataset& table, std::size_t column) {
            const CodedColumn& c = column_of(table, column);
            return std::pair(to_numpy(c.values), to_numpy(c.upper.empty() ? c.values : c.upper));
          },
          nb::arg("column"), "The smallest and the largest value of each code of a number.")
      .def("missing_columns",
           [](const BinnedDataset& table) {
             std::vector<std::int64_t> numbers;
             for (std::size_t j = 0; j < table.columns.size(); ++j) {
               if (table.columns[j].has_missing) numbers.push_back(static_cast<std::int64_t>(j));
             }
             return to_numpy(std::move(numbers));
           })
      .def_prop_ro("code_bytes", &BinnedDataset::code_bytes);
}

}  // namespace arboleda::python
