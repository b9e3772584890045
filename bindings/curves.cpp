// Predictions of trees for rows with other values in one or two columns.
#include "predict/curves.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "areas.h"
#include "arrays.h"
#include "options.h"
#include "table_methods.h"

namespace arboleda::python {

namespace {

// Of the rows [begin, end).
struct Wanted {
  std::vector<Axis> axes;
  std::size_t begin, end;

  std::size_t n_points() const {
    std::size_t n = 1;
    for (const Axis& axis : axes) n *= axis.points.size();
    return n;
  }
};

Wanted wanted_of(const std::vector<FeatureIndex>& features, std::vector<std::vector<double>> points,
                 std::size_t begin, std::size_t end) {
  require(features.size() == points.size(), "every column to vary has its points");
  Wanted wanted{{}, begin, end};
  for (std::size_t d = 0; d < features.size(); ++d) {
    wanted.axes.push_back({features[d], std::move(points[d])});
  }
  return wanted;
}

OutArray<double, 3> to_curves(std::vector<double> curves, const Wanted& wanted,
                              std::size_t n_outputs) {
  return to_numpy<double, 3>(std::move(curves),
                             {wanted.end - wanted.begin, wanted.n_points(), n_outputs});
}

// compute(model, axes, rows, context), which is called with the GIL released.
template <class Model, class Table, class Compute>
std::vector<double> compute_unlocked(const Model& model, const Table& table, int n_threads,
                                     const Wanted& wanted, const Compute& compute) {
  const Context context = make_context(n_threads, 0);
  const nb::gil_scoped_release unlocked;
  return compute(model, wanted.axes, RowRange<Table>{table, wanted.begin, wanted.end}, context);
}

using Features = std::vector<FeatureIndex>;
using AllPoints = std::vector<std::vector<double>>;

// The same for models whose outputs are the values of their leaves.
template <class Model, class Compute, class OutputsOf>
void def_plain_curves(nb::class_<Model>& model_class, const Compute& compute,
                      const OutputsOf& outputs_of) {
  def_table_method<const Features&, const AllPoints&, std::size_t, std::size_t>(
      model_class, "curves",
      [compute, outputs_of](const Model& model, const auto& table, int n_threads,
                            const Features& features, const AllPoints& points, std::size_t begin,
                            std::size_t end) {
        const Wanted wanted = wanted_of(features, points, begin, end);
        return to_curves(compute_unlocked(model, table, n_threads, wanted, compute), wanted,
                         outputs_of(model));
      },
      nb::arg("features"), nb::arg("points"), nb::arg("begin"), nb::arg("end"));
}

}  // namespace

void def_curves(nb::class_<Tree>& tree_class) {
  def_plain_curves(
      tree_class,
      [](const Tree& tree, const auto& axes, const auto& rows, const Context& context) {
        return value_curves(tree, axes, rows, context);
      },
      [](const Tree& tree) { return static_cast<std::size_t>(tree.arrays().n_outputs); });
}

void def_curves(nb::class_<TreeEnsemble>& ensemble_class) {
  def_plain_curves(
      ensemble_class,
      [](const TreeEnsemble& ensemble, const auto& axes, const auto& rows, const Context& context) {
        return score_curves(ensemble, axes, rows, context);
      },
      [](const TreeEnsemble& ensemble) { return ensemble.n_outputs(); });
}

void def_curves(nb::class_<Forest>& forest_class) {
  using Numbers = std::vector<std::size_t>;
  def_table_method<const Features&, const AllPoints&, std::size_t, std::size_t, const std::string&,
                   const Numbers&>(
      forest_class, "curves",
      [](const Forest& forest, const auto& table, int n_threads, const Features& features,
         const AllPoints& points, std::size_t begin, std::size_t end, const std::string& voting,
         const Numbers& n_classes) {
        const Wanted wanted = wanted_of(features, points, begin, end);
        const Ballot ballot(forest, voting_named(voting), n_classes);
        return to_curves(compute_unlocked(forest, table, n_threads, wanted,
                                          [&](const Forest& trees, const auto& axes,
                                              const auto& rows, const Context& context) {
                                            return vote_curves(trees, ballot, axes, rows, context);
                                          }),
                         wanted, ballot.n_outputs());
      },
      nb::arg("features"), nb::arg("points"), nb::arg("begin"), nb::arg("end"), nb::arg("voting"),
      nb::arg("n_classes"));
}

}  // namespace arboleda::python
