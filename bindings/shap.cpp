// Models as sums of trees, and the Shapley values of their columns.
#include "explain/shap_values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "areas.h"
#include "arrays.h"
#include "explain/interventional.h"
#include "options.h"
#include "table_methods.h"
#include "weighted_forest.h"

namespace arboleda::python {

namespace {

// The trees of a model, which outlives this, and of a forest how they vote.
struct ExplainedModel {
  template <class Model>
  explicit ExplainedModel(const Model& model) : trees(additive(model)) {}
  explicit ExplainedModel(const WeightedForest& members)
      : trees(additive(*members.forest, members.votes)) {}
  ExplainedModel(const Forest& forest, Ballot votes)
      : ballot(std::make_unique<Ballot>(std::move(votes))), trees(additive(forest, *ballot)) {}

  std::unique_ptr<Ballot> ballot;
  AdditiveTrees trees;
};

std::unique_ptr<ExplainedModel> of_forest(const Forest& forest, const std::string& voting,
                                          const std::vector<std::size_t>& n_classes) {
  return std::make_unique<ExplainedModel>(forest, Ballot(forest, voting_named(voting), n_classes));
}

template <class Model>
std::unique_ptr<ExplainedModel> of(const Model& source) {
  return std::make_unique<ExplainedModel>(source);
}

using PlayerNumbers = std::vector<std::uint32_t>;

// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 3> values(const ExplainedModel& model, const Table& table, int n_threads,
                           const PlayerNumbers& of_column, std::size_t n_players) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> found;
  {
    const nb::gil_scoped_release unlocked;
    found = shap_values(model.trees, {of_column, n_players}, table, context);
  }
  return to_numpy<double, 3>(std::move(found), {table.n_rows, n_players, model.trees.n_outputs()});
}

// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 4> interactions(const ExplainedModel& model, const Table& table, int n_threads,
                                 const PlayerNumbers& of_column, std::size_t n_players) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> found;
  {
    const nb::gil_scoped_release unlocked;
    found = shap_interactions(model.trees, {of_column, n_players}, table, context);
  }
  return to_numpy<double, 4>(std::move(found),
                             {table.n_rows, n_players, n_players, model.trees.n_outputs()});
}

using Against = std::tuple<OutArray<double, 3>, OutArray<double>>;

// Called with the GIL held; releases it.
template <class Table>
Against values_against(const ExplainedModel& model, const Table& table, const Table& background,
                       int n_threads, const PlayerNumbers& of_column, std::size_t n_players) {
  const Context context = make_context(n_threads, 0);
  AgainstBackground found;
  {
    const nb::gil_scoped_release unlocked;
    found = shap_values_against(model.trees, {of_column, n_players}, table, background, context);
  }
  return {to_numpy<double, 3>(std::move(found.values),
                              {table.n_rows, n_players, model.trees.n_outputs()}),
          to_numpy(std::move(found.base))};
}

void def_against(nb::class_<ExplainedModel>& model) {
  model
      .def(
          "shap_values_against",
          [](const ExplainedModel& explained, nb::list columns, std::size_t n_rows,
             nb::list other_columns, std::size_t n_others, int n_threads,
             const PlayerNumbers& of_column, std::size_t n_players) {
            return values_against(explained, to_table(columns, n_rows),
                                  to_table(other_columns, n_others), n_threads, of_column,
                                  n_players);
          },
          nb::arg("columns"), nb::arg("n_rows"), nb::arg("other_columns"), nb::arg("n_others"),
          nb::arg("n_threads"), nb::arg("of_column"), nb::arg("n_players"),
          "Values against background rows, and the mean scores of these.")
      .def(
          "shap_values_against",
          [](const ExplainedModel& explained, const AnyColumn& data,
             const InArray<std::int32_t>& indices, const InArray<std::int64_t>& indptr,
             std::size_t n_columns, const AnyColumn& other_data,
             const InArray<std::int32_t>& other_indices, const InArray<std::int64_t>& other_indptr,
             std::size_t n_other_columns, int n_threads, const PlayerNumbers& of_column,
             std::size_t n_players) {
            return values_against(explained, to_rows(data, indices, indptr, n_columns),
                                  to_rows(other_data, other_indices, other_indptr, n_other_columns),
                                  n_threads, of_column, n_players);
          },
          nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_columns"),
          nb::arg("other_data"), nb::arg("other_indices"), nb::arg("other_indptr"),
          nb::arg("n_other_columns"), nb::arg("n_threads"), nb::arg("of_column"),
          nb::arg("n_players"));
}

}  // namespace

void init_shap(nb::module_& m) {
  nb::class_<ExplainedModel> model(m, "ExplainedModel", "A model as a sum of trees.");
  model.def_static("of_tree", &of<Tree>, nb::arg("tree"), nb::keep_alive<0, 1>())
      .def_static("of_ensemble", &of<TreeEnsemble>, nb::arg("ensemble"), nb::keep_alive<0, 1>())
      .def_static("of_forest", &of_forest, nb::arg("forest"), nb::arg("voting"),
                  nb::arg("n_classes"), nb::keep_alive<0, 1>())
      .def_static("of_members", &of<WeightedForest>, nb::arg("members"), nb::keep_alive<0, 1>())
      .def_prop_ro("n_outputs", [](const ExplainedModel& e) { return e.trees.n_outputs(); })
      .def(
          "expected_scores",
          [](const ExplainedModel& e) { return to_numpy(expected_scores(e.trees)); },
          "Mean scores over the training rows, by the weights of leaves.");
  def_table_method<const PlayerNumbers&, std::size_t>(
      model, "shap_values",
      [](const ExplainedModel& explained, const auto& table, int n_threads,
         const PlayerNumbers& of_column, std::size_t n_players) {
        return values(explained, table, n_threads, of_column, n_players);
      },
      nb::arg("of_column"), nb::arg("n_players"));
  def_table_method<const PlayerNumbers&, std::size_t>(
      model, "shap_interactions",
      [](const ExplainedModel& explained, const auto& table, int n_threads,
         const PlayerNumbers& of_column, std::size_t n_players) {
        return interactions(explained, table, n_threads, of_column, n_players);
      },
      nb::arg("of_column"), nb::arg("n_players"));
  def_against(model);
}

}  // namespace arboleda::python
