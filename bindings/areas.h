// The functions that each file of the bindings offers to the module and to the others.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "arrays.h"
#include "base/context.h"
#include "data/column.h"
#include "io/bytes.h"
#include "io/model_file.h"
#include "tree/ensemble.h"
#include "tree/forest.h"

namespace arboleda::python {

namespace nb = nanobind;

void init_errors(nb::module_& m);
void init_context(nb::module_& m);
void init_data(nb::module_& m);
void init_tree(nb::module_& m);
void init_ensemble(nb::module_& m);
void init_forest(nb::module_& m);
void init_cart(nb::module_& m);
void init_fit_forest(nb::module_& m);
void init_out_of_bag(nb::module_& m);
void init_neighborhood(nb::module_& m);
void init_prune(nb::module_& m);
void init_boosting(nb::module_& m);
void init_bart(nb::module_& m);
void init_adaboost(nb::module_& m);
void init_adaboost_regressor(nb::module_& m);
void init_one_row(nb::module_& m);
void init_combine(nb::module_& m);
void init_shap(nb::module_& m);
void init_isolation(nb::module_& m);
void init_io(nb::module_& m);

// The weighted medians of a forest that was boosted.
void def_medians(nb::class_<Forest>& forest_class);

// Predictions of a model for rows with other values in one or two columns.
void def_curves(nb::class_<Tree>& tree_class);
void def_curves(nb::class_<TreeEnsemble>& ensemble_class);
void def_curves(nb::class_<Forest>& forest_class);

// Columns of a table: a list of one-dimensional arrays, each of any stride and of one of the types
// of DType. The views hold no reference: the list must outlive them.
TableView to_table(nb::list columns, std::size_t n_rows);

// A sparse table as SciPy holds it. Checked; the arrays must outlive it.
SparseLines to_lines(const AnyColumn& data, const InArray<std::int32_t>& index,
                     const InArray<std::int64_t>& start, std::size_t n_lines, std::size_t n_across);
SparseRows to_rows(const AnyColumn& data, const InArray<std::int32_t>& indices,
                   const InArray<std::int64_t>& indptr, std::size_t n_columns);

// Bytes of C++ and of Python; the view holds no reference.
nb::bytes to_bytes(const Bytes& bytes);
ByteView view_bytes(const nb::bytes& bytes);

// Named arrays and the pairs of name and array that Python has for them.
std::vector<NamedArray> to_arrays(nb::list arrays);
nb::tuple to_python(NamedArray named);

// A Context whose stop flag follows Ctrl-C. Made with the GIL held, used with it released.
Context make_context(int n_threads, std::uint64_t seed, const Shards* shards = nullptr);

}  // namespace arboleda::python
