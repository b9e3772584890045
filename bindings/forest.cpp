// Trees that vote: their predictions, their parts, their state for pickling.
#include "tree/forest.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "areas.h"
#include "arrays.h"
#include "io/model_file.h"
#include "options.h"
#include "predict/forest.h"
#include "table_methods.h"

namespace arboleda::python {

Voting voting_named(const std::string& name) {
  if (name == "soft") return Voting::soft;
  if (name == "hard") return Voting::hard;
  require(name == "laplace", "trees vote soft, hard or laplace");
  return Voting::laplace;
}

namespace {

nb::bytes get_state(const Forest& forest) { return to_bytes(write_forest_section(forest)); }

void set_state(Forest& forest, nb::bytes state) {
  new (&forest) Forest(read_forest_section(view_bytes(state)));
}

Measure measure_named(const std::string& name) {
  if (name == "gini") return Measure::gini;
  if (name == "entropy") return Measure::entropy;
  if (name == "misclassification") return Measure::misclassification;
  if (name == "squared_error") return Measure::squared_error;
  if (name == "poisson") return Measure::poisson;
  if (name == "means") return Measure::means;
  require(name == "medians", "the measure of a forest is unknown");
  return Measure::medians;
}

Forest from_trees(const std::vector<const Tree*>& trees, const std::string& measure) {
  require(std::find(trees.begin(), trees.end(), nullptr) == trees.end(), "a tree is None");
  return forest_of(trees, measure_named(measure));
}

// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 2> votes(const Forest& forest, const std::string& voting,
                          const std::vector<std::size_t>& n_classes, const Table& table,
                          int n_threads) {
  const Context context = make_context(n_threads, 0);
  const Ballot ballot(forest, voting_named(voting), n_classes);
  std::vector<double> means;
  {
    const nb::gil_scoped_release unlocked;
    means = mean_votes(forest, ballot, table, context);
  }
  return to_numpy<double, 2>(std::move(means), {table.n_rows, ballot.n_outputs()});
}

// The same of the first trees alone, for several numbers of them: (numbers, rows, outputs).
template <class Table>
OutArray<double, 3> staged_votes(const Forest& forest, const std::string& voting,
                                 const std::vector<std::size_t>& n_classes, const Table& table,
                                 int n_threads, const std::vector<std::size_t>& n_trees) {
  const Context context = make_context(n_threads, 0);
  const Ballot ballot(forest, voting_named(voting), n_classes);
  std::vector<double> means;
  {
    const nb::gil_scoped_release unlocked;
    means = staged_mean_votes(forest, n_trees, ballot, table, context);
  }
  return to_numpy<double, 3>(std::move(means), {n_trees.size(), table.n_rows, ballot.n_outputs()});
}

using Sums = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The sums of votes `before`, to which those of the trees [first, last) are added: (rows, outputs).
// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 2> added_votes(const Forest& forest, const std::string& voting,
                                const std::vector<std::size_t>& n_classes, const Table& table,
                                int n_threads, std::size_t first, std::size_t last,
                                const Sums& before) {
  const Context context = make_context(n_threads, 0);
  const Ballot ballot(forest, voting_named(voting), n_classes);
  std::vector<double> sums(before.data(), before.data() + before.size());
  {
    const nb::gil_scoped_release unlocked;
    add_votes(forest, first, last, ballot, table, context, sums);
  }
  return to_numpy<double, 2>(std::move(sums), {table.n_rows, ballot.n_outputs()});
}

template <class Table>
OutArray<NodeIndex, 2> apply(const Forest& forest, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<NodeIndex> leaves;
  {
    const nb::gil_scoped_release unlocked;
    leaves = apply_forest(forest, table, context);
  }
  return to_numpy<NodeIndex, 2>(std::move(leaves), {table.n_rows, forest.trees.size()});
}

const CompactTree& tree_at(const Forest& forest, std::size_t tree) {
  require(tree < forest.trees.size(), "the forest has fewer trees than that");
  return forest.trees[tree];
}

OutArray<std::int64_t> nodes_of_trees(const Forest& forest) {
  std::vector<std::int64_t> begins{0};
  for (const CompactTree& tree : forest.trees) {
    begins.push_back(begins.back() + static_cast<std::int64_t>(tree.n_nodes()));
  }
  return to_numpy(std::move(begins));
}

void def_votes(nb::class_<Forest>& forest_class) {
  forest_class
      .def(
          "votes",
          [](const Forest& forest, const std::string& voting,
             const std::vector<std::size_t>& n_classes, nb::list columns, std::size_t n_rows,
             int n_threads) {
            return votes(forest, voting, n_classes, to_table(columns, n_rows), n_threads);
          },
          nb::arg("voting"), nb::arg("n_classes"), nb::arg("columns"), nb::arg("n_rows"),
          nb::arg("n_threads"),
          "Mean vote of the trees (rows, outputs); n_classes: of each target, none in regression.")
      .def(
          "votes",
          [](const Forest& forest, const std::string& voting,
             const std::vector<std::size_t>& n_classes, const AnyColumn& data,
             const InArray<std::int32_t>& indices, const InArray<std::int64_t>& indptr,
             std::size_t n_columns, int n_threads) {
            return votes(forest, voting, n_classes, to_rows(data, indices, indptr, n_columns),
                         n_threads);
          },
          nb::arg("voting"), nb::arg("n_classes"), nb::arg("data"), nb::arg("indices"),
          nb::arg("indptr"), nb::arg("n_columns"), nb::arg("n_threads"));
}

}  // namespace

void init_forest(nb::module_& m) {
  nb::class_<Forest> forest_class(m, "Forest", "Trees that vote; immutable.");
  forest_class
      .def_static("from_trees", &from_trees, nb::arg("trees"), nb::arg("measure"),
                  "Trees that were made one by one, and how their nodes were measured.")
      .def("__getstate__", &get_state)
      .def("__setstate__", &set_state)
      .def_prop_ro("n_features", [](const Forest& f) { return f.n_features; })
      .def_prop_ro("n_outputs", [](const Forest& f) { return f.n_outputs; })
      .def_prop_ro("n_trees", [](const Forest& f) { return f.trees.size(); })
      .def_prop_ro("n_training_rows", [](const Forest& f) { return f.n_training_rows; })
      .def_prop_ro("n_bytes", [](const Forest& f) { return n_bytes(f); })
      .def_prop_ro("keeps_rows", [](const Forest& f) { return keeps_rows(f); })
      .def("tree", &tree_of, nb::arg("tree"), "The tree by itself, as a copy.")
      .def(
          "without_rows",
          [](Forest f) {
            for (CompactTree& tree : f.trees) tree.row = {};
            f.n_training_rows = 0;
            return f;
          },
          "The same trees without their training rows.")
      .def("node_begins", &nodes_of_trees, "Number of nodes before each tree, and of all.")
      .def(
          "rows", [](const Forest& f, std::size_t t) { return to_numpy(tree_at(f, t).row); },
          nb::arg("tree"), "The training rows of a tree, leaf by leaf; none where not kept.")
      .def(
          "leaf_begins",
          [](const Forest& f, std::size_t t) { return to_numpy(leaf_begins(tree_at(f, t))); },
          nb::arg("tree"), "Where the rows of each leaf begin, and where the last ones end.")
      .def("truncated", nb::overload_cast<const Forest&, std::size_t>(&truncated),
           nb::arg("n_trees"))
      .def("extended", nb::overload_cast<const Forest&, const Forest&>(&extended), nb::arg("more"))
      .def(
          "with_leaf_values",
          [](const Forest& f, const InArray<double>& values) {
            return with_leaf_values(f, span_of(values));
          },
          nb::arg("values"), "The same trees with other values in their leaves.")
      .def(
          "categories_are_below",
          [](const Forest& f, const std::vector<std::int64_t>& n_levels) {
            return categories_are_below(f, n_levels);
          },
          nb::arg("n_levels"), "Whether columns have all levels that the trees test.")
      .def("impurity_importances",
           [](const Forest& f) { return to_numpy(impurity_importances(f)); });
  def_votes(forest_class);
  def_medians(forest_class);
  def_curves(forest_class);
  using Numbers = std::vector<std::size_t>;
  def_table_method<const std::string&, const Numbers&, const Numbers&>(
      forest_class, "staged_votes",
      [](const Forest& forest, const auto& table, int n_threads, const std::string& voting,
         const Numbers& n_classes, const Numbers& n_trees) {
        return staged_votes(forest, voting, n_classes, table, n_threads, n_trees);
      },
      nb::arg("voting"), nb::arg("n_classes"), nb::arg("n_trees"));
  def_table_method<const std::string&, const Numbers&, std::size_t, std::size_t, const Sums&>(
      forest_class, "added_votes",
      [](const Forest& forest, const auto& table, int n_threads, const std::string& voting,
         const Numbers& n_classes, std::size_t first, std::size_t last, const Sums& before) {
        return added_votes(forest, voting, n_classes, table, n_threads, first, last, before);
      },
      nb::arg("voting"), nb::arg("n_classes"), nb::arg("first"), nb::arg("last"),
      nb::arg("before"));
  def_table_method(forest_class, "apply",
                   [](const Forest& forest, const auto& table, int n_threads) {
                     return apply(forest, table, n_threads);
                   });
}

}  // namespace arboleda::python
