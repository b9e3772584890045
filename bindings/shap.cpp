// Models as sums of trees, and the Shapley values of their columns.
#include "explain/shap_values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "answers.h"
#include "areas.h"
#include "arrays.h"
#include "options.h"
#include "weighted_forest.h"

namespace arboleda::python {

namespace {

// The trees of a model, which outlives this, and how they vote.
struct ExplainedModel {
  std::vector<Ballot> ballot = {};  // one, of forests alone
  AdditiveTrees trees = {};
};

std::unique_ptr<ExplainedModel> of_forest(const Forest& forest, const std::string& voting,
                                          const std::vector<std::size_t>& n_classes) {
  auto model = std::make_unique<ExplainedModel>();
  model->ballot.emplace_back(forest, voting_named(voting), n_classes);
  model->trees = additive(forest, model->ballot[0]);
  return model;
}

template <class Model>
std::unique_ptr<ExplainedModel> of(const Model& source) {
  auto model = std::make_unique<ExplainedModel>();
  model->trees = additive(source);
  return model;
}

std::unique_ptr<ExplainedModel> of_members(const WeightedForest& members) {
  auto model = std::make_unique<ExplainedModel>();
  model->trees = additive(*members.forest, members.votes);
  return model;
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

}  // namespace

void init_shap(nb::module_& m) {
  nb::class_<ExplainedModel> model(m, "ExplainedModel", "A model as a sum of trees.");
  model.def_static("of_tree", &of<Tree>, nb::arg("tree"), nb::keep_alive<0, 1>())
      .def_static("of_ensemble", &of<TreeEnsemble>, nb::arg("ensemble"), nb::keep_alive<0, 1>())
      .def_static("of_forest", &of_forest, nb::arg("forest"), nb::arg("voting"),
                  nb::arg("n_classes"), nb::keep_alive<0, 1>())
      .def_static("of_members", &of_members, nb::arg("members"), nb::keep_alive<0, 1>())
      .def_prop_ro("n_outputs", [](const ExplainedModel& e) { return e.trees.n_outputs(); })
      .def(
          "expected_scores",
          [](const ExplainedModel& e) { return to_numpy(expected_scores(e.trees)); },
          "Mean scores over the training rows, by the weights of leaves.");
  def_answer<const PlayerNumbers&, std::size_t>(
      model, "shap_values",
      [](const ExplainedModel& explained, const auto& table, int n_threads,
         const PlayerNumbers& of_column, std::size_t n_players) {
        return values(explained, table, n_threads, of_column, n_players);
      },
      nb::arg("of_column"), nb::arg("n_players"));
}

}  // namespace arboleda::python
