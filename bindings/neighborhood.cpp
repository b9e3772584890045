// A forest as a weighted neighbourhood: weights of training rows, quantiles, proximities.
#include "predict/neighborhood.h"

#include <nanobind/stl/optional.h>

#include <optional>

#include "areas.h"
#include "arrays.h"
#include "fitted_rows.h"
#include "predict/proximity.h"
#include "predict/shared_leaves.h"
#include "table_methods.h"

namespace arboleda::python {

namespace {

// Starts of the rows, columns and values, as SciPy's CSR has them.
nb::tuple to_python(SparseSums sums) {
  return nb::make_tuple(to_numpy(std::move(sums.start)), to_numpy(std::move(sums.index)),
                        to_numpy(std::move(sums.value)));
}

void make_neighborhood(Neighborhood* self, const Forest& forest, const FittedRows& rows,
                       std::size_t n_rows, int n_threads) {
  const Context context = make_context(n_threads, rows.seed);
  const nb::gil_scoped_release unlocked;
  NeighborWeights weights{span_of(rows.weights)};
  if (rows.options.balance_classes) {
    weights.labels = span_of(rows.labels);
    weights.n_classes = rows.n_classes;
  }
  const BagDraw bags = rows.bags(n_rows);
  new (self) Neighborhood(forest, {bags, rows.options.first_tree}, n_rows, weights, context);
}

template <class Table>
nb::tuple weights(const Neighborhood& near, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  SparseSums sums;
  {
    const nb::gil_scoped_release unlocked;
    sums = near.weights(table, context);
  }
  return to_python(std::move(sums));
}

template <class Table>
OutArray<double, 3> quantiles(const Neighborhood& near, const Table& table, int n_threads,
                              const InArray<double>& targets, const InArray<double>& levels) {
  const Context context = make_context(n_threads, 0);
  const WantedQuantiles wanted{span_of(targets), targets.size() / near.n_rows(), span_of(levels)};
  std::vector<double> found;
  {
    const nb::gil_scoped_release unlocked;
    found = near.quantiles(table, wanted, context);
  }
  return to_numpy<double, 3>(std::move(found), {table.n_rows, wanted.n_outputs, levels.size()});
}

// rows: of the fit, where only the trees count that saw neither row; else null.
template <class Table>
void make_proximity(Proximity* self, const Forest& forest, const Table& table,
                    const FittedRows* rows, int n_threads) {
  const Context context = make_context(n_threads, 0);
  const nb::gil_scoped_release unlocked;
  if (rows == nullptr) {
    new (self) Proximity(forest, table, nullptr, context);
    return;
  }
  const BagDraw bags = rows->bags(table.n_rows);
  const ForestBags of_forest{bags, rows->options.first_tree};
  new (self) Proximity(forest, table, &of_forest, context);
}

template <class Table>
nb::tuple proximity(const Proximity& near, const Table& table, int n_threads,
                    std::size_t first_row) {
  const Context context = make_context(n_threads, 0);
  SparseSums sums;
  {
    const nb::gil_scoped_release unlocked;
    sums = near.of(table, first_row, context);
  }
  return to_python(std::move(sums));
}

template <class Table>
OutArray<std::uint64_t> shared_leaves(const Forest& forest, const Table& table,
                                      const InArray<std::uint32_t>& group, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<std::uint64_t> sums;
  {
    const nb::gil_scoped_release unlocked;
    sums = squared_shared_leaves(forest, table, span_of(group), context);
  }
  return to_numpy(std::move(sums));
}

void init_proximity(nb::module_& m) {
  nb::class_<Proximity> proximity_class(m, "Proximity", "In how many trees rows share a leaf.");
  proximity_class
      .def(
          "__init__",
          [](Proximity* self, const Forest& forest, nb::list columns, std::size_t n_rows,
             const FittedRows* rows, int n_threads) {
            make_proximity(self, forest, to_table(columns, n_rows), rows, n_threads);
          },
          nb::arg("forest"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("rows").none(),
          nb::arg("n_threads"), nb::keep_alive<1, 2>())
      .def(
          "__init__",
          [](Proximity* self, const Forest& forest, const AnyColumn& data,
             const InArray<std::int32_t>& indices, const InArray<std::int64_t>& indptr,
             std::size_t n_columns, const FittedRows* rows, int n_threads) {
            make_proximity(self, forest, to_rows(data, indices, indptr, n_columns), rows,
                           n_threads);
          },
          nb::arg("forest"), nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
          nb::arg("n_columns"), nb::arg("rows").none(), nb::arg("n_threads"),
          nb::keep_alive<1, 2>());
  def_table_method<std::size_t>(
      proximity_class, "of",
      [](const Proximity& near, const auto& table, int n_threads, std::size_t first_row) {
        return proximity(near, table, n_threads, first_row);
      },
      nb::arg("first_row"));
}

void init_shared_leaves(nb::module_& m) {
  m.def(
      "squared_shared_leaves",
      [](const Forest& forest, nb::list columns, std::size_t n_rows,
         const InArray<std::uint32_t>& group, int n_threads) {
        return shared_leaves(forest, to_table(columns, n_rows), group, n_threads);
      },
      nb::arg("forest"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("group"),
      nb::arg("n_threads"));
  m.def(
      "squared_shared_leaves",
      [](const Forest& forest, const AnyColumn& data, const InArray<std::int32_t>& indices,
         const InArray<std::int64_t>& indptr, std::size_t n_columns,
         const InArray<std::uint32_t>& group, int n_threads) {
        return shared_leaves(forest, to_rows(data, indices, indptr, n_columns), group, n_threads);
      },
      nb::arg("forest"), nb::arg("data"), nb::arg("indices"), nb::arg("indptr"),
      nb::arg("n_columns"), nb::arg("group"), nb::arg("n_threads"));
}

}  // namespace

void init_neighborhood(nb::module_& m) {
  nb::class_<Neighborhood> near_class(m, "Neighborhood", "What training rows weigh in a forest.");
  near_class.def("__init__", &make_neighborhood, nb::arg("forest"), nb::arg("rows"),
                 nb::arg("n_rows"), nb::arg("n_threads"), nb::keep_alive<1, 2>());
  def_table_method(near_class, "weights",
                   [](const Neighborhood& near, const auto& table, int n_threads) {
                     return weights(near, table, n_threads);
                   });
  def_table_method<const InArray<double>&, const InArray<double>&>(
      near_class, "quantiles",
      [](const Neighborhood& near, const auto& table, int n_threads, const InArray<double>& targets,
         const InArray<double>& levels) {
        return quantiles(near, table, n_threads, targets, levels);
      },
      nb::arg("targets"), nb::arg("levels"));
  init_proximity(m);
  init_shared_leaves(m);
}

}  // namespace arboleda::python
