// Gradient boosting: options, losses, and the loop.
#include "learn/boosting.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "learn/custom_objective.h"
#include "names.h"
#include "options.h"
#include "python_shards.h"

namespace arboleda::python {

namespace {

using Rows = InArray<RowIndex>;
using Floats = InArray<double>;

// Feature, threshold, and the numbers of the splits of both sides, or -1.
using Forced = std::tuple<FeatureIndex, double, std::int32_t, std::int32_t>;

constexpr std::array kGrowths = {std::pair{"leaf_wise", BoostedGrowth::leaf_wise},
                                 std::pair{"level_wise", BoostedGrowth::level_wise},
                                 std::pair{"symmetric", BoostedGrowth::symmetric}};

constexpr std::array kSamplings = {
    std::pair{"uniform", SamplingMethod::uniform}, std::pair{"goss", SamplingMethod::goss},
    std::pair{"gradient", SamplingMethod::gradient}, std::pair{"auto", SamplingMethod::automatic}};

constexpr std::array kSketches = {std::pair{"none", SketchMethod::none},
                                  std::pair{"top", SketchMethod::top},
                                  std::pair{"sampling", SketchMethod::sampling},
                                  std::pair{"projection", SketchMethod::projection}};

// The scores of some rows, (outputs, rows): as a callback and a loss of Python's get them.
OutArray<double, 2> scores_of(std::span<const double> scores, std::span<const RowIndex> rows,
                              std::size_t n_rows) {
  const std::size_t n_outputs = scores.size() / std::max<std::size_t>(n_rows, 1);
  std::vector<double> some;
  some.reserve(rows.size() * n_outputs);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    for (const RowIndex row : rows) some.push_back(scores[k * n_rows + row]);
  }
  return to_numpy<double, 2>(std::move(some), {n_outputs, rows.size()});
}

// A loss written in Python. It is called for the rows of one fit, in their order; its results were
// checked in Python, except for their shape.
LossDerivatives derivatives_from(const nb::object& loss, std::size_t n_rows) {
  return [loss, n_rows](std::span<const double> scores, std::span<const RowIndex> rows,
                        std::span<double> gradient, std::span<double> hessian) {
    const nb::gil_scoped_acquire gil;
    using Array = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto [g, h] = nb::cast<std::tuple<Array, Array>>(loss(scores_of(scores, rows, n_rows)));
    const std::size_t n_outputs = scores.size() / n_rows;
    for (const Array* array : {&g, &h}) {
      require(array->shape(0) == n_outputs && array->shape(1) == rows.size(),
              "the loss must return one derivative per score");
    }
    for (std::size_t k = 0; k < n_outputs; ++k) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        gradient[k * n_rows + rows[i]] = g.data()[k * rows.size() + i];
        hessian[k * n_rows + rows[i]] = h.data()[k * rows.size() + i];
      }
    }
  };
}

// Rows of training or validation data; it keeps the arrays alive.
struct BoostingData {
  const BinnedDataset* table;
  Rows rows;
  Floats target;
  std::optional<Floats> weight, offset;
  std::optional<Rows> query;  // of each row of the table
};

struct CustomLoss {
  nb::object derivatives;
  std::size_t n_outputs;
};

std::unique_ptr<Objective> bind_loss(const LossOptions& loss, const BoostingData& data,
                                     const Shards* shards) {
  return make_objective(loss, span_of(data.target), span_of(data.weight), span_of(data.query),
                        shards);
}

std::unique_ptr<Objective> bind_loss(const CustomLoss& loss, const BoostingData& data,
                                     const Shards* shards) {
  const std::size_t n_rows = data.table->n_rows;
  return std::make_unique<CustomObjective>(n_rows, loss.n_outputs, span_of(data.weight),
                                           derivatives_from(loss.derivatives, n_rows), shards);
}

// Called with the GIL released, on the thread that called the fit.
BoostingCallback callback_from(const nb::object& callback, const BoostingData* validation) {
  if (callback.is_none()) return {};
  return [callback, validation](const BoostingProgress& progress) {
    const nb::gil_scoped_acquire gil;
    nb::object scores = nb::none();
    if (validation != nullptr) {
      scores = nb::cast(scores_of(progress.validation_scores, span_of(validation->rows),
                                  validation->table->n_rows));
    }
    return nb::cast<bool>(
        callback(progress.n_rounds, progress.training_loss, progress.validation_loss, scores));
  };
}

BoostingHistory to_history(const nb::dict& losses) {
  const auto of = [&](const char* name) {
    return losses.contains(name) ? to_vector(nb::cast<Floats>(losses[name]))
                                 : std::vector<double>{};
  };
  return {of("train_loss"), of("validation_loss"), of("in_bag_loss"), of("out_of_bag_loss")};
}

nb::dict to_dict(BoostingHistory history) {
  nb::dict losses;
  const auto keep = [&](const char* name, std::vector<double>& values) {
    if (!values.empty()) losses[name] = to_numpy(std::move(values));
  };
  keep("train_loss", history.training);
  keep("validation_loss", history.validation);
  keep("in_bag_loss", history.in_bag);
  keep("out_of_bag_loss", history.out_of_bag);
  return losses;
}

using Fitted = std::tuple<TreeEnsemble, nb::dict, std::int64_t, bool>;

using BindLoss =
    std::function<std::unique_ptr<Objective>(const BoostingData& data, const Shards* shards)>;

Fitted fit(const BoostingData& training, const BindLoss& bind, const BoostingOptions& given,
           const BoostingData* validation, const TreeEnsemble* resume, const TreeEnsemble* replayed,
           const nb::object& callback, int n_threads, std::uint64_t seed, const nb::object& shards,
           std::uint64_t first_row, const std::optional<nb::dict>& history) {
  BoostingOptions options = given;
  options.replayed = replayed;
  std::optional<BoostingHistory> so_far;
  if (history) options.history = &so_far.emplace(to_history(*history));
  const std::optional<PythonShards> connection = connect(shards, first_row);
  const Shards* const others = connection ? &*connection : nullptr;
  const bool own_table = validation != nullptr && validation->table != training.table;
  const auto objective = bind(training, others);
  const auto validation_loss = own_table ? bind(*validation, others) : nullptr;
  const auto rows_of = [](const BoostingData& data, Objective& bound) {
    return BoostingRows{*data.table, span_of(data.rows), span_of(data.weight), span_of(data.offset),
                        bound};
  };
  const BoostingRows learned = rows_of(training, *objective);
  std::optional<BoostingRows> validation_data;
  if (validation != nullptr)
    validation_data.emplace(rows_of(own_table ? *validation : training,
                                    validation_loss ? *validation_loss : *objective));
  if (validation_data) validation_data->rows = span_of(validation->rows);
  const BoostingCallback report = callback_from(callback, validation);
  const Context context = make_context(n_threads, seed, others);
  Boosted boosted;
  {
    const nb::gil_scoped_release unlocked;
    boosted = boost(learned, validation_data ? &*validation_data : nullptr, options,
                    resume != nullptr ? *resume : TreeEnsemble{}, report, context);
  }
  return {std::move(boosted.ensemble), to_dict(std::move(boosted.history)), boosted.best_round,
          boosted.is_complete};
}

// -1: no limit.
struct SizeLimits {
  std::int64_t max_leaf_nodes;
  std::int32_t max_depth;

  template <class Growth>
  void set(Growth& growth) const {
    if (max_leaf_nodes >= 0) growth.max_leaf_nodes = max_leaf_nodes;
    if (max_depth >= 0) growth.max_depth = max_depth;
  }
};

void init_options(nb::module_& m) {
  const BoostingOptions core;
  const HistogramOptions trees;
  const ExactGrowth exact_trees;
  nb::class_<BoostingOptions>(m, "BoostingOptions", "How to boost; -1 means no limit.")
      .def(
          "__init__",
          [](BoostingOptions* self, std::int64_t n_rounds, double learning_rate, bool exact,
             std::int64_t max_leaf_nodes, std::int32_t max_depth, std::uint64_t min_samples_leaf,
             // Exact trees alone.
             std::uint64_t min_samples_split, double min_weight_fraction_leaf,
             double min_impurity_decrease, FeatureIndex max_features, double ccp_alpha,
             // Trees from histograms alone.
             const std::string& growth, double min_child_weight, double l1, double l2,
             double min_gain, double max_delta_step, double column_share_tree,
             double column_share_level, double column_share_node, bool random_thresholds,
             double category_smoothing, double category_l2, std::vector<std::int8_t> monotonic,
             std::vector<std::vector<FeatureIndex>> interactions,
             std::vector<double> feature_weights, const std::vector<Forced>& forced_splits,
             bool shares_trees, const std::string& sketch, std::size_t sketch_dim,
             // Rows, and when to stop.
             const std::string& sampling, double row_share, double top_share, double other_share,
             double drop_rate, double skip_drop, std::int64_t max_drop, std::int64_t patience,
             double tolerance, bool record_train_loss, bool linear_leaves, double linear_l2) {
            new (self) BoostingOptions{};
            self->n_rounds = n_rounds;
            self->learning_rate = learning_rate;
            const SizeLimits limits{max_leaf_nodes, max_depth};
            if (exact) {
              ExactGrowth& trees = self->trees.emplace<ExactGrowth>();
              limits.set(trees.growth);
              if (max_leaf_nodes >= 0) trees.growth.policy = GrowthPolicy::best_first;
              trees.growth.min_samples_leaf = min_samples_leaf;
              trees.growth.min_samples_split = min_samples_split;
              trees.growth.min_weight_fraction_leaf = min_weight_fraction_leaf;
              trees.growth.min_impurity_decrease = min_impurity_decrease;
              trees.growth.max_features = max_features;
              trees.ccp_alpha = ccp_alpha;
            } else {
              HistogramOptions& trees = self->trees.emplace<HistogramOptions>();
              limits.set(trees);
              trees.min_samples_leaf = min_samples_leaf;
              trees.growth = value_of(kGrowths, growth, "no such order of growth");
              trees.min_child_weight = min_child_weight;
              trees.l1 = l1;
              trees.l2 = l2;
              trees.min_gain = min_gain;
              trees.max_delta_step = max_delta_step;
              trees.column_share_tree = column_share_tree;
              trees.column_share_level = column_share_level;
              trees.column_share_node = column_share_node;
              trees.random_thresholds = random_thresholds;
              trees.category_smoothing = category_smoothing;
              trees.category_l2 = category_l2;
              trees.monotonic = std::move(monotonic);
              trees.interactions = std::move(interactions);
              trees.feature_weights = std::move(feature_weights);
              for (const auto& [feature, threshold, left, right] : forced_splits) {
                trees.forced_splits.push_back({feature, threshold, left, right});
              }
              self->shares_trees = shares_trees;
              self->sketch = {value_of(kSketches, sketch, "no such sketch"), sketch_dim};
            }
            self->sampling = {value_of(kSamplings, sampling, "no such way of sampling"), row_share,
                              top_share, other_share};
            self->dart = {drop_rate, skip_drop, max_drop};
            self->patience = patience;
            self->tolerance = tolerance;
            self->records_training = record_train_loss;
            self->linear = {linear_leaves, linear_l2};
          },
          nb::kw_only(), nb::arg("n_rounds"), nb::arg("learning_rate"), nb::arg("exact"),
          nb::arg("max_leaf_nodes") = kNoLimit, nb::arg("max_depth") = kNoLimit,
          nb::arg("min_samples_leaf") = trees.min_samples_leaf,
          nb::arg("min_samples_split") = exact_trees.growth.min_samples_split,
          nb::arg("min_weight_fraction_leaf") = exact_trees.growth.min_weight_fraction_leaf,
          nb::arg("min_impurity_decrease") = exact_trees.growth.min_impurity_decrease,
          nb::arg("max_features") = exact_trees.growth.max_features,
          nb::arg("ccp_alpha") = exact_trees.ccp_alpha,
          nb::arg("growth") = name_of(kGrowths, trees.growth),
          nb::arg("min_child_weight") = trees.min_child_weight, nb::arg("l1") = trees.l1,
          nb::arg("l2") = trees.l2, nb::arg("min_gain") = trees.min_gain,
          nb::arg("max_delta_step") = trees.max_delta_step,
          nb::arg("column_share_tree") = trees.column_share_tree,
          nb::arg("column_share_level") = trees.column_share_level,
          nb::arg("column_share_node") = trees.column_share_node,
          nb::arg("random_thresholds") = trees.random_thresholds,
          nb::arg("category_smoothing") = trees.category_smoothing,
          nb::arg("category_l2") = trees.category_l2, nb::arg("monotonic") = trees.monotonic,
          nb::arg("interactions") = trees.interactions,
          nb::arg("feature_weights") = trees.feature_weights,
          nb::arg("forced_splits") = std::vector<Forced>{},
          nb::arg("shares_trees") = core.shares_trees,
          nb::arg("sketch") = name_of(kSketches, core.sketch.method),
          nb::arg("sketch_dim") = core.sketch.n_dims,
          nb::arg("sampling") = name_of(kSamplings, core.sampling.method),
          nb::arg("row_share") = core.sampling.row_share,
          nb::arg("top_share") = core.sampling.top_share,
          nb::arg("other_share") = core.sampling.other_share,
          nb::arg("drop_rate") = core.dart.drop_rate, nb::arg("skip_drop") = core.dart.skip_drop,
          nb::arg("max_drop") = core.dart.max_drop, nb::arg("patience") = core.patience,
          nb::arg("tolerance") = core.tolerance,
          nb::arg("record_train_loss") = core.records_training,
          nb::arg("linear_leaves") = core.linear.is_on,
          nb::arg("linear_l2") = core.linear.slope_l2);
}

template <class Loss>
void def_fit(nb::module_& m) {
  m.def(
      "fit_boosting",
      [](const BoostingData& training, const Loss& loss, const BoostingOptions& options,
         const BoostingData* validation, const TreeEnsemble* resume, const TreeEnsemble* replayed,
         const nb::object& callback, int n_threads, std::uint64_t seed, const nb::object& shards,
         std::uint64_t first_row, const std::optional<nb::dict>& history) {
        const auto bind = [&loss](const BoostingData& data, const Shards* others) {
          return bind_loss(loss, data, others);
        };
        return fit(training, bind, options, validation, resume, replayed, callback, n_threads, seed,
                   shards, first_row, history);
      },
      nb::arg("training"), nb::arg("loss"), nb::arg("options"), nb::arg("validation").none(),
      nb::arg("resume").none(), nb::arg("replayed").none(), nb::arg("callback").none(),
      nb::arg("n_threads"), nb::arg("seed"), nb::arg("shards").none() = nb::none(),
      nb::arg("first_row") = 0, nb::arg("history").none() = nb::none());
}

}  // namespace

void init_boosting(nb::module_& m) {
  const LossOptions loss;
  nb::class_<LossOptions>(m, "LossOptions", "A loss of the engine's, with its parameters.")
      .def(
          "__init__",
          [](LossOptions* self, std::string name, std::size_t n_classes, std::vector<double> levels,
             double alpha, double power, std::size_t n_targets, std::size_t truncation_level,
             std::vector<double> label_gain, double scale, double expectile, double huber_slope,
             double focal_gamma, std::string score) {
            new (self) LossOptions{
                std::move(name), n_classes,        std::move(levels),     alpha, power,
                n_targets,       truncation_level, std::move(label_gain), scale, expectile,
                huber_slope,     focal_gamma,      std::move(score)};
          },
          nb::arg("name"), nb::kw_only(), nb::arg("n_classes") = loss.n_classes,
          nb::arg("levels") = loss.levels, nb::arg("alpha") = loss.alpha,
          nb::arg("power") = loss.power, nb::arg("n_targets") = loss.n_targets,
          nb::arg("truncation_level") = loss.truncation_level,
          nb::arg("label_gain") = loss.label_gain, nb::arg("scale") = loss.scale,
          nb::arg("expectile") = loss.expectile, nb::arg("huber_slope") = loss.huber_slope,
          nb::arg("focal_gamma") = loss.focal_gamma, nb::arg("score") = loss.score);

  nb::class_<CustomLoss>(m, "CustomLoss", "A loss given by a function of scores (outputs, rows).")
      .def(
          "__init__",
          [](CustomLoss* self, nb::object derivatives, std::size_t n_outputs) {
            new (self) CustomLoss{std::move(derivatives), n_outputs};
          },
          nb::arg("derivatives"), nb::arg("n_outputs"));

  nb::class_<BoostingData>(m, "BoostingData", "Rows of training or validation data.")
      .def(
          "__init__",
          [](BoostingData* self, const BinnedDataset& table, Rows rows, Floats target,
             std::optional<Floats> weight, std::optional<Floats> offset,
             std::optional<Rows> query) {
            new (self) BoostingData{&table,
                                    std::move(rows),
                                    std::move(target),
                                    std::move(weight),
                                    std::move(offset),
                                    std::move(query)};
          },
          nb::arg("table"), nb::arg("rows"), nb::arg("target"), nb::arg("weight").none(),
          nb::arg("offset").none(), nb::arg("query").none() = nb::none(), nb::keep_alive<1, 2>());

  init_options(m);
  def_fit<LossOptions>(m);
  def_fit<CustomLoss>(m);
}

}  // namespace arboleda::python
