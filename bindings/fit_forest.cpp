// Fitting forests: their options, what each tree sees, and the loop.
#include "learn/forest.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "names.h"
#include "options.h"

namespace arboleda::python {

namespace {

using Labels = InArray<std::uint32_t>;
using Floats = InArray<double>;

constexpr std::array kBags = {std::pair{"bootstrap", BagKind::bootstrap},
                              std::pair{"all", BagKind::all},
                              std::pair{"without_replacement", BagKind::without_replacement},
                              std::pair{"balanced_bootstrap", BagKind::balanced_bootstrap}};

// Called with the GIL released, on the thread that called the fit.
ForestProgress progress_from(const nb::object& progress) {
  if (progress.is_none()) return {};
  return [progress](std::size_t n_done) {
    const nb::gil_scoped_acquire gil;
    return nb::cast<bool>(progress(n_done));
  };
}

Forest fit_classification(const BinnedDataset& table, const Labels& labels,
                          const std::vector<std::size_t>& n_classes,
                          const std::optional<Floats>& weights, const std::string& criterion,
                          const ForestOptions& options, const nb::object& progress, int n_threads,
                          std::uint64_t seed) {
  const ClassMeasure measure = class_measure_named(criterion);
  const ForestProgress report = progress_from(progress);
  const Context context = make_context(n_threads, seed);
  const nb::gil_scoped_release unlocked;
  return fit_classification_forest(table, span_of(labels), n_classes, span_of(weights), measure,
                                   options, report, context);
}

Forest fit_regression(const BinnedDataset& table, const Floats& targets, std::size_t n_outputs,
                      const std::optional<Floats>& weights, const std::string& criterion,
                      const ForestOptions& options, const nb::object& progress, int n_threads,
                      std::uint64_t seed) {
  const RegressionMeasure measure = regression_measure_named(criterion);
  const ForestProgress report = progress_from(progress);
  const Context context = make_context(n_threads, seed);
  const nb::gil_scoped_release unlocked;
  return fit_regression_forest(table, span_of(targets), n_outputs, span_of(weights), measure,
                               options, report, context);
}

void init_options(nb::module_& m) {
  const ForestOptions core;
  nb::class_<ForestOptions>(m, "ForestOptions", "How to grow a forest; -1 means no limit, or all.")
      .def(
          "__init__",
          [](ForestOptions* self, std::uint32_t n_trees, std::uint32_t first_tree,
             std::int32_t max_depth, std::int64_t max_leaf_nodes, std::uint64_t min_samples_split,
             std::uint64_t min_samples_leaf, double min_weight_fraction_leaf,
             double min_impurity_decrease, FeatureIndex max_features, bool random_splits,
             const std::string& bag, std::int64_t n_drawn, FeatureIndex n_columns,
             bool columns_with_replacement, bool random_n_columns, double switch_share,
             bool switch_uniformly, bool balance_classes, bool keep_rows,
             std::vector<std::int8_t> monotonic) {
            new (self)
                ForestOptions{n_trees,
                              first_tree,
                              growth_options(max_depth, max_leaf_nodes, min_samples_split,
                                             min_samples_leaf, min_weight_fraction_leaf,
                                             min_impurity_decrease, max_features, random_splits),
                              {value_of(kBags, bag, "no such kind of bag"), n_drawn},
                              {n_columns, columns_with_replacement, random_n_columns},
                              {switch_share, switch_uniformly ? SwitchScheme::uniform
                                                              : SwitchScheme::proportional},
                              balance_classes,
                              keep_rows};
            self->growth.monotonic = std::move(monotonic);
          },
          nb::kw_only(), nb::arg("n_trees"), nb::arg("first_tree") = core.first_tree,
          nb::arg("max_depth") = kNoLimit, nb::arg("max_leaf_nodes") = kNoLimit,
          nb::arg("min_samples_split") = core.growth.min_samples_split,
          nb::arg("min_samples_leaf") = core.growth.min_samples_leaf,
          nb::arg("min_weight_fraction_leaf") = core.growth.min_weight_fraction_leaf,
          nb::arg("min_impurity_decrease") = core.growth.min_impurity_decrease,
          nb::arg("max_features") = core.growth.max_features,
          nb::arg("random_splits") = core.growth.random_splits,
          nb::arg("bag") = name_of(kBags, core.bag.kind), nb::arg("n_drawn") = core.bag.n_drawn,
          nb::arg("n_columns") = core.columns.n_columns,
          nb::arg("columns_with_replacement") = core.columns.with_replacement,
          nb::arg("random_n_columns") = core.columns.random_number,
          nb::arg("switch_share") = core.switching.share,
          nb::arg("switch_uniformly") = core.switching.scheme == SwitchScheme::uniform,
          nb::arg("balance_classes") = core.balance_classes, nb::arg("keep_rows") = core.keep_rows,
          nb::arg("monotonic") = core.growth.monotonic)
      .def_prop_ro("n_trees", [](const ForestOptions& options) { return options.n_trees; })
      .def_prop_ro("first_tree", [](const ForestOptions& options) { return options.first_tree; });
}

void init_draws(nb::module_& m) {
  m.def(
      "draw_bag",
      [](const ForestOptions& options, std::size_t n_rows, const std::optional<Floats>& weights,
         const std::optional<Labels>& labels, std::uint32_t tree, std::uint64_t seed) {
        const BagDraw bags(options.bag, {n_rows, span_of(weights), span_of(labels)}, seed);
        std::vector<std::uint32_t> counts;
        bags.counts(tree, counts);
        return to_numpy(std::move(counts));
      },
      nb::arg("options"), nb::arg("n_rows"), nb::arg("weights").none(), nb::arg("labels").none(),
      nb::arg("tree"), nb::arg("seed"));

  m.def(
      "draw_columns",
      [](const ForestOptions& options, FeatureIndex n_features, std::uint32_t tree,
         std::uint64_t seed) {
        return to_numpy(draw_columns(options.columns, n_features, seed, tree));
      },
      nb::arg("options"), nb::arg("n_features"), nb::arg("tree"), nb::arg("seed"));

  m.def(
      "switch_labels",
      [](const ForestOptions& options, const Labels& labels, const std::optional<Floats>& weights,
         std::uint32_t tree, std::uint64_t seed) {
        const auto rows = BagDraw({BagKind::all}, {labels.size(), span_of(weights)}, seed).rows();
        const LabelSwitch change(options.switching, rows, span_of(labels), seed);
        std::vector<std::uint32_t> switched;
        change.labels(tree, switched);
        return to_numpy(std::move(switched));
      },
      nb::arg("options"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("tree"),
      nb::arg("seed"));
}

}  // namespace

void init_fit_forest(nb::module_& m) {
  init_options(m);
  init_draws(m);
  m.def("fit_classification_forest", &fit_classification, nb::arg("table"), nb::arg("labels"),
        nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("criterion"), nb::arg("options"),
        nb::arg("progress").none(), nb::arg("n_threads"), nb::arg("seed"));
  m.def("fit_regression_forest", &fit_regression, nb::arg("table"), nb::arg("targets"),
        nb::arg("n_outputs"), nb::arg("weights").none(), nb::arg("criterion"), nb::arg("options"),
        nb::arg("progress").none(), nb::arg("n_threads"), nb::arg("seed"));
}

}  // namespace arboleda::python
