// Additive trees: their predictions, their parts, their state for pickling.
#include "tree/ensemble.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "areas.h"
#include "arrays.h"
#include "io/linear_arrays.h"
#include "io/model_file.h"
#include "predict/ensemble.h"
#include "table_methods.h"

namespace arboleda::python {

namespace {

using Scores = nb::ndarray<double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::bytes get_state(const TreeEnsemble& ensemble) {
  return to_bytes(write_ensemble_sections(ensemble));
}

void set_state(TreeEnsemble& ensemble, nb::bytes state) {
  new (&ensemble) TreeEnsemble(read_ensemble_sections(view_bytes(state)));
}

TreeEnsemble make(std::vector<double> start, nb::list trees, nb::list linear) {
  TreeEnsemble ensemble{std::move(start), {}};
  ensemble.trees.reserve(trees.size());
  for (nb::handle tree : trees) ensemble.trees.push_back(nb::cast<const Tree&>(tree));
  ensemble.linear = to_linear_leaves(to_arrays(linear));
  check_ensemble(ensemble);
  return ensemble;
}

// Views of the trees that keep the ensemble alive: nothing is copied.
nb::list trees_of(nb::handle self) {
  nb::list trees;
  for (const Tree& tree : nb::cast<const TreeEnsemble&>(self).trees) {
    trees.append(nb::cast(&tree, nb::rv_policy::reference_internal, self));
  }
  return trees;
}

nb::list linear_of(const TreeEnsemble& ensemble) {
  nb::list arrays;
  for (NamedArray& array : to_arrays(ensemble.linear)) arrays.append(to_python(std::move(array)));
  return arrays;
}

// Each method once for both kinds of tables. Called with the GIL held; releases it.
template <class Table>
OutArray<double, 2> scores(const TreeEnsemble& ensemble, const CodedEnsemble* coded,
                           const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> values;
  {
    const nb::gil_scoped_release unlocked;
    values = predict_scores(ensemble, table, context, coded);
  }
  return to_numpy<double, 2>(std::move(values), {table.n_rows, ensemble.n_outputs()});
}

template <class Table>
OutArray<NodeIndex, 2> apply(const TreeEnsemble& ensemble, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<NodeIndex> leaves;
  {
    const nb::gil_scoped_release unlocked;
    leaves = apply_ensemble(ensemble, table, context);
  }
  return to_numpy<NodeIndex, 2>(std::move(leaves), {table.n_rows, ensemble.trees.size()});
}

template <class Table>
void add(const TreeEnsemble& ensemble, const CodedEnsemble* coded, const Scores& scores,
         std::size_t first_round, std::size_t last_round, const Table& table, int n_threads) {
  require(scores.shape(1) == ensemble.n_outputs(),
          "the scores have not a column for every output of the ensemble");
  const Context context = make_context(n_threads, 0);
  const nb::gil_scoped_release unlocked;
  add_scores(ensemble, first_round, last_round, table, context, {scores.data(), scores.size()},
             coded);
}

void def_add_scores(nb::class_<TreeEnsemble>& ensemble_class) {
  ensemble_class
      .def(
          "add_scores",
          [](const TreeEnsemble& ensemble, Scores scores, std::size_t first_round,
             std::size_t last_round, nb::list columns, std::size_t n_rows, int n_threads,
             const CodedEnsemble* coded) {
            add(ensemble, coded, scores, first_round, last_round, to_table(columns, n_rows),
                n_threads);
          },
          nb::arg("scores").noconvert(), nb::arg("first_round"), nb::arg("last_round"),
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"),
          nb::arg("coded") = nb::none(),
          "Add the leaf values of some rounds to scores (rows, outputs), in place.")
      .def(
          "add_scores",
          [](const TreeEnsemble& ensemble, Scores scores, std::size_t first_round,
             std::size_t last_round, const AnyColumn& data, const InArray<std::int32_t>& indices,
             const InArray<std::int64_t>& indptr, std::size_t n_columns, int n_threads,
             const CodedEnsemble* coded) {
            add(ensemble, coded, scores, first_round, last_round,
                to_rows(data, indices, indptr, n_columns), n_threads);
          },
          nb::arg("scores").noconvert(), nb::arg("first_round"), nb::arg("last_round"),
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"),
          nb::arg("n_threads"), nb::arg("coded") = nb::none());
}

}  // namespace

void init_ensemble(nb::module_& m) {
  nb::class_<CodedEnsemble>(m, "CodedEnsemble",
                            "Trees of an ensemble laid out for many rows; immutable.");
  nb::class_<TreeEnsemble> ensemble_class(m, "TreeEnsemble",
                                          "Trees that add up, K = n_outputs a round; immutable.");
  ensemble_class
      .def(
          "__init__",
          [](TreeEnsemble* self, std::vector<double> start, nb::list trees, nb::list linear) {
            new (self) TreeEnsemble(make(std::move(start), trees, linear));
          },
          nb::arg("start"), nb::arg("trees"), nb::arg("linear"))
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state)
      .def_prop_ro("n_outputs", &TreeEnsemble::n_outputs)
      .def_prop_ro("n_rounds", &TreeEnsemble::n_rounds)
      .def_prop_ro("n_trees", [](const TreeEnsemble& e) { return e.trees.size(); })
      .def_prop_ro(
          "start",
          [](nb::handle s) { return view_numpy(nb::cast<const TreeEnsemble&>(s).start, s); })
      .def_prop_ro("trees", &trees_of)
      .def_prop_ro("has_linear_leaves", [](const TreeEnsemble& e) { return !e.linear.empty(); })
      .def_prop_ro("linear", &linear_of, "Names and arrays; none where no leaf is linear.")
      .def(
          "coded",
          [](const TreeEnsemble& e) -> std::optional<CodedEnsemble> {
            if (!CodedEnsemble::can_hold(e)) return std::nullopt;
            return CodedEnsemble(e);
          },
          "The trees laid out for many rows; None where they cannot be.")
      .def("truncated", nb::overload_cast<const TreeEnsemble&, std::size_t>(&truncated),
           nb::arg("n_rounds"))
      .def("extended", nb::overload_cast<const TreeEnsemble&, const TreeEnsemble&>(&extended),
           nb::arg("more"))
      .def_static(
          "mean_of", [](const std::vector<TreeEnsemble>& members) { return mean_of(members); },
          nb::arg("members"))
      .def("impurity_importances",
           [](const TreeEnsemble& e) { return to_numpy(impurity_importances(e)); })
      .def("gain_importances", [](const TreeEnsemble& e) { return to_numpy(gain_importances(e)); });
  def_add_scores(ensemble_class);
  def_curves(ensemble_class);
  def_table_method<const CodedEnsemble*>(
      ensemble_class, "scores",
      [](const TreeEnsemble& ensemble, const auto& table, int n_threads,
         const CodedEnsemble* coded) { return scores(ensemble, coded, table, n_threads); },
      nb::arg("coded") = nb::none());
  def_table_method(ensemble_class, "apply",
                   [](const TreeEnsemble& ensemble, const auto& table, int n_threads) {
                     return apply(ensemble, table, n_threads);
                   });
}

}  // namespace arboleda::python
