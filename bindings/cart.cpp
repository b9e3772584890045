// Fitting one classification or regression tree.
#include "learn/cart.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "learn/multi_output_cart.h"
#include "names.h"
#include "options.h"
#include "python_shards.h"

namespace arboleda::python {

ClassMeasure class_measure_named(const std::string& name) {
  return value_of(kClassMeasures, name, "no such criterion");
}

RegressionMeasure regression_measure_named(const std::string& name) {
  if (name == "absolute_error") return RegressionMeasure::absolute_error;
  if (name == "poisson") return RegressionMeasure::poisson;
  if (name == "logrank") return RegressionMeasure::log_rank;
  if (name == "logrank_score") return RegressionMeasure::log_rank_score;
  require(name == "squared_error", "no such criterion");
  return RegressionMeasure::squared_error;
}

GrowthOptions growth_options(std::int32_t max_depth, std::int64_t max_leaf_nodes,
                             std::uint64_t min_samples_split, std::uint64_t min_samples_leaf,
                             double min_weight_fraction_leaf, double min_impurity_decrease,
                             FeatureIndex max_features, bool random_splits) {
  GrowthOptions options;
  if (max_depth >= 0) options.max_depth = max_depth;
  if (max_leaf_nodes >= 0) {
    options.max_leaf_nodes = max_leaf_nodes;
    options.policy = GrowthPolicy::best_first;
  }
  options.min_samples_split = min_samples_split;
  options.min_samples_leaf = min_samples_leaf;
  options.min_weight_fraction_leaf = min_weight_fraction_leaf;
  options.min_impurity_decrease = min_impurity_decrease;
  options.max_features = max_features;
  options.random_splits = random_splits;
  return options;
}

void init_cart(nb::module_& m) {
  nb::class_<GrowthOptions>(m, "GrowthOptions", "When to stop growing; -1 means no limit.")
      .def(
          "__init__",
          [](GrowthOptions* self, std::int32_t max_depth, std::int64_t max_leaf_nodes,
             std::uint64_t min_samples_split, std::uint64_t min_samples_leaf,
             double min_weight_fraction_leaf, double min_impurity_decrease,
             FeatureIndex max_features, bool random_splits, std::vector<std::int8_t> monotonic,
             std::uint64_t sent_rows) {
            new (self) GrowthOptions(growth_options(
                max_depth, max_leaf_nodes, min_samples_split, min_samples_leaf,
                min_weight_fraction_leaf, min_impurity_decrease, max_features, random_splits));
            self->monotonic = std::move(monotonic);
            self->sent_rows = sent_rows;
          },
          nb::kw_only(), nb::arg("max_depth"), nb::arg("max_leaf_nodes"),
          nb::arg("min_samples_split"), nb::arg("min_samples_leaf"),
          nb::arg("min_weight_fraction_leaf"), nb::arg("min_impurity_decrease"),
          nb::arg("max_features"), nb::arg("random_splits") = GrowthOptions{}.random_splits,
          nb::arg("monotonic") = GrowthOptions{}.monotonic,
          nb::arg("sent_rows") = GrowthOptions{}.sent_rows);

  m.def(
      "fit_classification_tree",
      [](const BinnedDataset& table, InArray<std::uint32_t> labels,
         const std::vector<std::size_t>& n_classes, std::optional<InArray<double>> weights,
         const std::string& criterion, const GrowthOptions& options, int n_threads,
         std::uint64_t seed, const nb::object& shards) {
        const ClassMeasure measure = class_measure_named(criterion);
        const std::optional<PythonShards> connection = connect(shards);
        const Context context = make_context(n_threads, seed, connection ? &*connection : nullptr);
        const nb::gil_scoped_release unlocked;
        if (n_classes.size() == 1) {
          return fit_classification_tree(table, span_of(labels), n_classes[0], span_of(weights),
                                         measure, options, context);
        }
        return fit_multi_output_classification_tree(table, span_of(labels), n_classes,
                                                    span_of(weights), measure, options, context);
      },
      nb::arg("table"), nb::arg("labels"), nb::arg("n_classes"), nb::arg("weights").none(),
      nb::arg("criterion"), nb::arg("options"), nb::arg("n_threads"), nb::arg("seed"),
      nb::arg("shards").none() = nb::none());

  m.def(
      "fit_regression_tree",
      [](const BinnedDataset& table, InArray<double> targets, std::size_t n_outputs,
         std::optional<InArray<double>> weights, const std::string& criterion,
         const GrowthOptions& options, int n_threads, std::uint64_t seed,
         const nb::object& shards) {
        const RegressionMeasure measure = regression_measure_named(criterion);
        const std::optional<PythonShards> connection = connect(shards);
        const Context context = make_context(n_threads, seed, connection ? &*connection : nullptr);
        const nb::gil_scoped_release unlocked;
        if (n_outputs == 1) {
          return fit_regression_tree(table, span_of(targets), span_of(weights), measure, options,
                                     context);
        }
        return fit_multi_output_regression_tree(table, span_of(targets), n_outputs,
                                                span_of(weights), measure, options, context);
      },
      nb::arg("table"), nb::arg("targets"), nb::arg("n_outputs"), nb::arg("weights").none(),
      nb::arg("criterion"), nb::arg("options"), nb::arg("n_threads"), nb::arg("seed"),
      nb::arg("shards").none() = nb::none());
}

}  // namespace arboleda::python
