// The immutable tree: its arrays, its predictions, its state for pickling.
#include "tree/tree.h"

#include <nanobind/stl/tuple.h>

#include <limits>

#include "areas.h"
#include "arrays.h"
#include "io/model_file.h"
#include "predict/predict.h"
#include "table_methods.h"
#include "tree/column_subset.h"
#include "tree/prune.h"

namespace arboleda::python {

namespace {

// A pickle holds what a model file holds: a tree's section, checked in full when it is read.
nb::bytes get_state(const Tree& tree) { return to_bytes(write_tree_section(tree)); }

void set_state(Tree& tree, nb::bytes state) {
  new (&tree) Tree(read_tree_section(view_bytes(state)));
}

const TreeArrays& arrays_of(nb::handle self) { return nb::cast<const Tree&>(self).arrays(); }

using Values = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> copied(const InArray<T>& array) {
  return {array.data(), array.data() + array.size()};
}

// Checked in full by Tree: the arrays may come from anywhere.
Tree from_arrays(FeatureIndex n_features, const InArray<FeatureIndex>& feature,
                 const InArray<double>& threshold, const InArray<NodeIndex>& right,
                 const InArray<std::uint8_t>& missing_left, const InArray<double>& impurity,
                 const InArray<std::int64_t>& n_node_samples, const InArray<double>& weight,
                 const Values& value, const InArray<std::int64_t>& category_start,
                 const InArray<CategoryIndex>& category) {
  require(value.shape(1) <= std::numeric_limits<std::int32_t>::max(),
          "a tree has too many outputs");
  TreeArrays arrays;
  arrays.n_features = n_features;
  arrays.n_outputs = static_cast<std::int32_t>(value.shape(1));
  arrays.feature = copied(feature);
  arrays.threshold = copied(threshold);
  arrays.right = copied(right);
  arrays.missing_left = copied(missing_left);
  arrays.impurity = copied(impurity);
  arrays.n_node_samples = copied(n_node_samples);
  arrays.weight = copied(weight);
  arrays.value.assign(value.data(), value.data() + value.size());
  arrays.category_start = copied(category_start);
  arrays.category = copied(category);
  return Tree(std::move(arrays));
}

// Each method once for both kinds of tables. Called with the GIL held; releases it.
template <class Table>
OutArray<NodeIndex> apply(const Tree& tree, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<NodeIndex> leaves(table.n_rows);
  {
    const nb::gil_scoped_release unlocked;
    apply_tree(tree, table, context, leaves);
  }
  return to_numpy(std::move(leaves));
}

template <class Table>
OutArray<double, 2> predict(const Tree& tree, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  const auto n_outputs = static_cast<std::size_t>(tree.arrays().n_outputs);
  std::vector<double> values(table.n_rows * n_outputs);
  {
    const nb::gil_scoped_release unlocked;
    predict_tree(tree, table, context, values);
  }
  return to_numpy<double, 2>(std::move(values), {table.n_rows, n_outputs});
}

template <class Table>
std::tuple<OutArray<std::int64_t>, OutArray<NodeIndex>> path(const Tree& tree, const Table& table,
                                                             int n_threads) {
  const Context context = make_context(n_threads, 0);
  DecisionPath result;
  {
    const nb::gil_scoped_release unlocked;
    result = decision_path(tree, table, context);
  }
  return {to_numpy(std::move(result.start)), to_numpy(std::move(result.node))};
}

std::tuple<OutArray<double>, OutArray<double>, OutArray<NodeIndex>> path_of_pruning(
    const Tree& tree) {
  std::vector<double> alphas;
  std::vector<double> impurities;
  std::vector<NodeIndex> n_leaves;
  for (const PruningStep& step : pruning_path(tree)) {
    alphas.push_back(step.alpha);
    impurities.push_back(step.impurity);
    n_leaves.push_back(step.n_leaves);
  }
  return {to_numpy(std::move(alphas)), to_numpy(std::move(impurities)),
          to_numpy(std::move(n_leaves))};
}

}  // namespace

void init_tree(nb::module_& m) {
  nb::class_<Tree> tree_class(m, "Tree",
                              "A fitted tree: flat arrays, nodes in preorder, immutable.");
  tree_class
      .def_static("from_arrays", &from_arrays, nb::arg("n_features"), nb::arg("feature"),
                  nb::arg("threshold"), nb::arg("right"), nb::arg("missing_left"),
                  nb::arg("impurity"), nb::arg("n_node_samples"), nb::arg("weight"),
                  nb::arg("value"), nb::arg("category_start"), nb::arg("category"),
                  "The tree that TreeArrays describes, checked.")
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state)
      .def_prop_ro("n_features", [](const Tree& t) { return t.arrays().n_features; })
      .def_prop_ro("n_outputs", [](const Tree& t) { return t.arrays().n_outputs; })
      .def_prop_ro("node_count", &Tree::n_nodes)
      .def_prop_ro("n_leaves", &Tree::n_leaves)
      .def_prop_ro("max_depth", &Tree::depth)
      .def_prop_ro("feature", [](nb::handle s) { return view_numpy(arrays_of(s).feature, s); })
      .def_prop_ro("threshold", [](nb::handle s) { return view_numpy(arrays_of(s).threshold, s); })
      .def_prop_ro("right", [](nb::handle s) { return view_numpy(arrays_of(s).right, s); })
      .def_prop_ro("missing_left",
                   [](nb::handle s) { return view_numpy(arrays_of(s).missing_left, s); })
      .def_prop_ro("category_start",
                   [](nb::handle s) { return view_numpy(arrays_of(s).category_start, s); })
      .def_prop_ro("category", [](nb::handle s) { return view_numpy(arrays_of(s).category, s); })
      .def_prop_ro(
          "impurity",
          [](const Tree& t) {
            auto impurity = t.impurity();
            const std::size_t n = impurity.size();
            return to_numpy<const double, 1>(std::move(impurity), {n});
          },
          nb::rv_policy::automatic)
      .def_prop_ro("impurity_exponent", [](const Tree& t) { return t.arrays().impurity_exponent; })
      .def_prop_ro("n_node_samples",
                   [](nb::handle s) { return view_numpy(arrays_of(s).n_node_samples, s); })
      .def_prop_ro("weighted_n_node_samples",
                   [](nb::handle s) { return view_numpy(arrays_of(s).weight, s); })
      .def_prop_ro("value",
                   [](nb::handle s) {
                     const TreeArrays& a = arrays_of(s);
                     return view_numpy<double, 2>(
                         a.value, s, {a.right.size(), static_cast<std::size_t>(a.n_outputs)});
                   })
      .def("node_depths", [](const Tree& t) { return to_numpy(t.node_depths()); })
      .def("impurity_decrease", [](const Tree& t) { return to_numpy(t.impurity_decrease()); })
      .def("pruning_path", &path_of_pruning)
      .def("pruned", &pruned, nb::arg("alpha"))
      .def(
          "on_columns",
          [](const Tree& t, const InArray<FeatureIndex>& c) { return on_columns(t, span_of(c)); },
          nb::arg("columns"));
  def_table_method(tree_class, "apply", [](const Tree& tree, const auto& table, int n_threads) {
    return apply(tree, table, n_threads);
  });
  def_table_method(tree_class, "predict", [](const Tree& tree, const auto& table, int n_threads) {
    return predict(tree, table, n_threads);
  });
  def_table_method(tree_class, "decision_path",
                   [](const Tree& tree, const auto& table, int n_threads) {
                     return path(tree, table, n_threads);
                   });
  def_curves(tree_class);
}

}  // namespace arboleda::python
