// Pruning a tree on validation rows, and all trees of a forest.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "areas.h"
#include "arrays.h"
#include "tree/prune_curve.h"
#include "tree/prune_forest.h"
#include "tree/reduced_error.h"
#include "tree/validation_pruning.h"

namespace arboleda::python {

namespace {

Loss loss_named(const std::string& name) {
  if (name == "misclassification") return Loss::misclassification;
  if (name == "squared_error") return Loss::squared_error;
  if (name == "absolute_error") return Loss::absolute_error;
  require(name == "poisson_deviance", "no such loss");
  return Loss::poisson_deviance;
}

ValidationRows to_rows(const InArray<NodeIndex>& leaf, const InArray<double>& target,
                       const std::optional<InArray<double>>& weight) {
  ValidationRows rows{{leaf.data(), leaf.size()}, {target.data(), target.size()}, {}};
  if (weight) rows.weight = {weight->data(), weight->size()};
  return rows;
}

}  // namespace

void init_prune(nb::module_& m) {
  m.def(
      "pruning_errors",
      [](const Tree& tree, InArray<NodeIndex> leaf, InArray<double> target,
         std::optional<InArray<double>> weight, const std::string& loss, InArray<double> alphas) {
        const ValidationRows rows = to_rows(leaf, target, weight);
        const Loss measure = loss_named(loss);
        const Context context = make_context(1, 0);
        std::vector<double> errors;
        {
          const nb::gil_scoped_release unlocked;
          errors = pruning_errors(tree, rows, measure, {alphas.data(), alphas.size()}, context);
        }
        return to_numpy(std::move(errors));
      },
      nb::arg("tree"), nb::arg("leaf"), nb::arg("target"), nb::arg("weight").none(),
      nb::arg("loss"), nb::arg("alphas"));

  m.def(
      "reduced_error_pruned",
      [](const Tree& tree, InArray<NodeIndex> leaf, InArray<double> target,
         std::optional<InArray<double>> weight, const std::string& loss) {
        const ValidationRows rows = to_rows(leaf, target, weight);
        const Loss measure = loss_named(loss);
        const Context context = make_context(1, 0);
        const nb::gil_scoped_release unlocked;
        return reduced_error_pruned(tree, rows, measure, context);
      },
      nb::arg("tree"), nb::arg("leaf"), nb::arg("target"), nb::arg("weight").none(),
      nb::arg("loss"));

  m.def(
      "validation_pruned",
      [](const Tree& tree, InArray<NodeIndex> leaf, InArray<double> target,
         std::optional<InArray<double>> weight, const std::string& loss) {
        const ValidationRows rows = to_rows(leaf, target, weight);
        const Loss measure = loss_named(loss);
        const Context context = make_context(1, 0);
        const nb::gil_scoped_release unlocked;
        return validation_pruned(tree, rows, measure, context);
      },
      nb::arg("tree"), nb::arg("leaf"), nb::arg("target"), nb::arg("weight").none(),
      nb::arg("loss"));

  m.def(
      "pruned_forest",
      [](const Forest& forest, double alpha) {
        const nb::gil_scoped_release unlocked;
        return pruned(forest, alpha);
      },
      nb::arg("forest"), nb::arg("alpha"));
}

}  // namespace arboleda::python
