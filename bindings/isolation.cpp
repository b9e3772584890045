// Isolation forests: fitting them, and the trees of hyperplanes.
#include "learn/isolation.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "predict/hyperplanes.h"

namespace arboleda::python {

namespace {

using Weights = std::optional<InArray<double>>;
using Levels = std::vector<std::int64_t>;

// A table of the caller's, kept alive by what holds its arrays.
struct Cells {
  nb::object owner;
  TableCells cells;
};

template <class Table>
TableCells to_cells(const Table& table) {
  return {table.n_rows, table.n_columns(),
          [table](std::size_t row, std::size_t column) { return table.at(row, column); }};
}

// Called with the GIL held; releases it.
Forest fit_forest(const IsolationOptions& options, const Cells& table, const Levels& n_levels,
                  const Weights& weights, int n_threads, std::uint64_t seed) {
  const Context context = make_context(n_threads, seed);
  const IsolationRows rows{table.cells, n_levels, span_of(weights)};
  const nb::gil_scoped_release unlocked;
  return fit_isolation_forest(rows, options, context);
}

HyperplaneForest fit_hyperplanes(const IsolationOptions& options, const Cells& table,
                                 const Weights& weights, int n_threads, std::uint64_t seed) {
  const Context context = make_context(n_threads, seed);
  const IsolationRows rows{table.cells, {}, span_of(weights)};
  const nb::gil_scoped_release unlocked;
  return fit_hyperplane_forest(rows, options, context);
}

OutArray<double> mean_lengths(const HyperplaneForest& forest, const Cells& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> means;
  {
    const nb::gil_scoped_release unlocked;
    means = mean_values(forest, table.cells, context);
  }
  return to_numpy(std::move(means));
}

using Integers = InArray<std::int64_t>;
using Floats = InArray<double>;

HyperplaneForest hyperplanes_from(FeatureIndex n_features, std::size_t n_terms,
                                  const Integers& root, const Integers& right,
                                  const Integers& place, const Floats& value,
                                  const Integers& feature, const Floats& weight,
                                  const Floats& point) {
  HyperplaneForest forest{n_features,         n_terms,           to_vector(root),
                          to_vector(right),   to_vector(place),  to_vector(value),
                          to_vector(feature), to_vector(weight), to_vector(point)};
  check_hyperplanes(forest);
  return forest;
}

nb::tuple hyperplane_arrays(const HyperplaneForest& f) {
  return nb::make_tuple(to_numpy(f.root), to_numpy(f.right), to_numpy(f.place), to_numpy(f.value),
                        to_numpy(f.feature), to_numpy(f.weight), to_numpy(f.point));
}

void init_options(nb::class_<IsolationOptions>& options_class) {
  options_class
      .def(
          "__init__",
          [](IsolationOptions* self, std::uint32_t n_trees, std::uint32_t first_tree,
             std::size_t n_drawn, bool with_replacement, FeatureIndex n_columns,
             FeatureIndex n_terms) {
            new (self) IsolationOptions{n_trees,          first_tree,  n_drawn,
                                        with_replacement, {n_columns}, n_terms};
          },
          nb::kw_only(), nb::arg("n_trees"), nb::arg("first_tree"), nb::arg("n_drawn"),
          nb::arg("with_replacement"), nb::arg("n_columns"), nb::arg("n_terms"))
      .def(
          "draw_rows",
          [](const IsolationOptions& options, std::size_t n_rows, const Weights& weights,
             std::uint32_t tree, std::uint64_t seed) {
            return to_numpy(draw_isolated_rows(options, n_rows, span_of(weights), seed, tree));
          },
          nb::arg("n_rows"), nb::arg("weights").none(), nb::arg("tree"), nb::arg("seed"),
          "The rows of a tree, ascending, those drawn again repeated.")
      .def(
          "draw_columns",
          [](const IsolationOptions& options, FeatureIndex n_features, std::uint32_t tree,
             std::uint64_t seed) {
            return to_numpy(draw_columns(options.columns, n_features, seed, tree));
          },
          nb::arg("n_features"), nb::arg("tree"), nb::arg("seed"))
      .def("fit_forest", &fit_forest, nb::arg("table"), nb::arg("n_levels"),
           nb::arg("weights").none(), nb::arg("n_threads"), nb::arg("seed"))
      .def("fit_hyperplanes", &fit_hyperplanes, nb::arg("table"), nb::arg("weights").none(),
           nb::arg("n_threads"), nb::arg("seed"));
}

}  // namespace

void init_isolation(nb::module_& m) {
  nb::class_<Cells>(m, "TableCells", "A table whose cells are read one by one.")
      .def(
          "__init__",
          [](Cells* self, nb::list columns, std::size_t n_rows) {
            new (self) Cells{columns, to_cells(to_table(columns, n_rows))};
          },
          nb::arg("columns"), nb::arg("n_rows"))
      .def(
          "__init__",
          [](Cells* self, const AnyColumn& data, const InArray<std::int32_t>& indices,
             const InArray<std::int64_t>& indptr, std::size_t n_columns) {
            new (self) Cells{nb::make_tuple(data, indices, indptr),
                             to_cells(to_rows(data, indices, indptr, n_columns))};
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"));
  nb::class_<IsolationOptions> options_class(m, "IsolationOptions",
                                             "How isolation trees are grown.");
  init_options(options_class);
  m.def("mean_path_length", &mean_path_length, nb::arg("n"));
  nb::class_<HyperplaneForest> hyperplanes(m, "HyperplaneForest",
                                           "Trees that split by hyperplanes; immutable.");
  hyperplanes
      .def_static("from_arrays", &hyperplanes_from, nb::arg("n_features"), nb::arg("n_terms"),
                  nb::arg("root"), nb::arg("right"), nb::arg("place"), nb::arg("value"),
                  nb::arg("feature"), nb::arg("weight"), nb::arg("point"))
      .def_prop_ro("n_trees", &HyperplaneForest::n_trees)
      .def("to_arrays", &hyperplane_arrays);
  hyperplanes.def("mean_lengths", &mean_lengths, nb::arg("table"), nb::arg("n_threads"));
}

}  // namespace arboleda::python
