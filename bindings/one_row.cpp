// Models that predict row by row.
#include "predict/one_row.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "areas.h"
#include "arrays.h"
#include "options.h"
#include "weighted_forest.h"

namespace arboleda::python {

namespace {

using Predictions = OutArray<double, 2>;

template <class Number>
using Numbers = nb::ndarray<const Number, nb::ndim<1>, nb::device::cpu>;

// Whether an array of numbers of one type is a row; it then goes to `row`.
template <class Number>
bool read_array(nb::handle given, std::span<double> row) {
  Numbers<Number> numbers;
  if (!nb::try_cast<Numbers<Number>>(given, numbers, false)) return false;
  if (numbers.shape(0) != row.size()) return false;
  const std::int64_t stride = numbers.stride(0);
  for (std::size_t j = 0; j < row.size(); ++j) {
    row[j] = static_cast<double>(numbers.data()[static_cast<std::int64_t>(j) * stride]);
  }
  return true;
}

// The same of a list or tuple of Python's numbers; `item_of` and `size` are those of the container.
template <class ItemOf>
bool read_items(Py_ssize_t size, const ItemOf& item_of, std::span<double> row) {
  if (static_cast<std::size_t>(size) != row.size()) return false;
  for (std::size_t j = 0; j < row.size(); ++j) {
    PyObject* item = item_of(static_cast<Py_ssize_t>(j));
    if (PyFloat_Check(item)) {
      row[j] = PyFloat_AsDouble(item);
    } else if (PyLong_Check(item)) {
      row[j] = PyLong_AsDouble(item);
      if (row[j] == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
      }
    } else {
      return false;
    }
  }
  return true;
}

bool read_row(nb::handle given, std::span<double> row) {
  PyObject* p = given.ptr();
  if (PyList_Check(p)) {
    return read_items(PyList_Size(p), [p](Py_ssize_t j) { return PyList_GetItem(p, j); }, row);
  }
  if (PyTuple_Check(p)) {
    return read_items(PyTuple_Size(p), [p](Py_ssize_t j) { return PyTuple_GetItem(p, j); }, row);
  }
  return read_array<double>(given, row) || read_array<float>(given, row);
}

// Called with the GIL held, and keeps it: this takes microseconds.
std::optional<Predictions> of_row(const OneRow& model, nb::handle given) {
  thread_local std::vector<double> row;
  row.resize(model.n_columns());
  if (!read_row(given, row)) return std::nullopt;
  for (const double x : row) {
    if (std::isinf(x)) return std::nullopt;
  }
  std::vector<double> out(model.n_outputs());
  model.predict(row.data(), out.data());
  return to_numpy<double, 2>(std::move(out), {1, model.n_outputs()});
}

// value_of(row, column). Releases the GIL.
template <class ValueOf>
Predictions predict_rows(const OneRow& model, std::size_t n_rows, std::size_t n_columns,
                         const ValueOf& value_of) {
  require(n_columns == model.n_columns(),
          "the number of columns differs from the one that the model was fitted on");
  const std::size_t k = model.n_outputs();
  std::vector<double> out(n_rows * k);
  {
    const nb::gil_scoped_release unlocked;
    std::vector<double> row(n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
      for (std::size_t j = 0; j < n_columns; ++j) row[j] = value_of(i, j);
      model.predict(row.data(), out.data() + i * k);
    }
  }
  return to_numpy<double, 2>(std::move(out), {n_rows, k});
}

template <class Number>
Predictions of_matrix(const OneRow& model,
                      const nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>& matrix) {
  const Number* data = matrix.data();
  const std::int64_t down = matrix.stride(0), across = matrix.stride(1);
  return predict_rows(model, matrix.shape(0), matrix.shape(1), [=](std::size_t i, std::size_t j) {
    return static_cast<double>(
        data[static_cast<std::int64_t>(i) * down + static_cast<std::int64_t>(j) * across]);
  });
}

}  // namespace

void init_one_row(nb::module_& m) {
  nb::class_<OneRow>(m, "OneRow", "A model prepared to predict row by row.")
      .def_static(
          "of_tree", [](const Tree& tree) { return one_row_of(tree); }, nb::arg("tree"),
          nb::keep_alive<0, 1>())
      .def_static(
          "of_sums",
          [](const TreeEnsemble& ensemble, std::size_t n_columns) {
            return one_row_of(ensemble, n_columns);
          },
          nb::arg("ensemble"), nb::arg("n_columns"), nb::keep_alive<0, 1>())
      .def_static(
          "of_votes",
          [](const Forest& forest, const std::string& voting,
             const std::vector<std::size_t>& n_classes) {
            return one_row_of(forest, Ballot(forest, voting_named(voting), n_classes));
          },
          nb::arg("forest"), nb::arg("voting"), nb::arg("n_classes"), nb::keep_alive<0, 1>())
      .def_static(
          "of_weighted_votes",
          [](const WeightedForest& members) { return one_row_of(*members.forest, members.votes); },
          nb::arg("members"), nb::keep_alive<0, 1>())
      .def_static(
          "of_medians",
          [](const Forest& forest, std::vector<double> weights) {
            return one_row_of(forest, std::move(weights));
          },
          nb::arg("forest"), nb::arg("weights"), nb::keep_alive<0, 1>())
      .def_prop_ro("n_columns", &OneRow::n_columns)
      .def("of_row", &of_row, nb::arg("row").none(),
           "Prediction (1, outputs) for a list, tuple or array of finite numbers; None for "
           "anything else.")
      .def("of_rows", &of_matrix<double>, nb::arg("matrix").noconvert(),
           "Predictions (rows, outputs) for the rows of a matrix.")
      .def("of_rows", &of_matrix<float>, nb::arg("matrix").noconvert())
      .def(
          "of_columns",
          [](const OneRow& model, nb::list columns, std::size_t n_rows) {
            const TableView table = to_table(columns, n_rows);
            return predict_rows(model, n_rows, table.n_columns(),
                                [&](std::size_t i, std::size_t j) { return table.at(i, j); });
          },
          nb::arg("columns"), nb::arg("n_rows"), "The same of columns.");
}

}  // namespace arboleda::python
