// AdaBoost and its family: options, the loop, and the weighted votes of its members.
#include "learn/adaboost.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "areas.h"
#include "arrays.h"
#include "names.h"
#include "options.h"
#include "predict/forest.h"
#include "table_methods.h"
#include "weighted_forest.h"

namespace arboleda::python {

namespace {

using Labels = InArray<std::uint32_t>;
using Floats = InArray<double>;

constexpr std::array kAlgorithms = {std::pair{"discrete", AdaBoostAlgorithm::discrete},
                                    std::pair{"M1", AdaBoostAlgorithm::m1},
                                    std::pair{"SAMME", AdaBoostAlgorithm::samme},
                                    std::pair{"real", AdaBoostAlgorithm::real},
                                    std::pair{"M2", AdaBoostAlgorithm::m2},
                                    std::pair{"MH", AdaBoostAlgorithm::mh},
                                    std::pair{"MR", AdaBoostAlgorithm::mr},
                                    std::pair{"gentle", AdaBoostAlgorithm::gentle},
                                    std::pair{"logit", AdaBoostAlgorithm::logit}};

constexpr std::array kVotes = {
    std::pair{"largest", MemberVote::largest}, std::pair{"log_odds", MemberVote::log_odds},
    std::pair{"scores", MemberVote::scores}, std::pair{"of_class", MemberVote::of_class}};

constexpr std::array kEnds = {
    std::pair{"all_rounds", AdaBoostEnd::all_rounds}, std::pair{"perfect", AdaBoostEnd::perfect},
    std::pair{"too_weak", AdaBoostEnd::too_weak}, std::pair{"stopped", AdaBoostEnd::stopped}};

template <class Names>
auto named(const Names& names, const std::string& name) {
  return value_of(names, name, "there is no '" + name + "' in boosting");
}

// The numbers of all rounds, each kind as an array.
nb::dict to_dict(const std::vector<AdaBoostRound>& rounds) {
  nb::dict arrays;
  const auto keep = [&](const char* name, auto get) {
    std::vector<std::decay_t<decltype(get(AdaBoostRound{}))>> values;
    for (const AdaBoostRound& round : rounds) values.push_back(get(round));
    arrays[name] = to_numpy(std::move(values));
  };
  keep("error", [](const AdaBoostRound& r) { return r.error; });
  keep("weight", [](const AdaBoostRound& r) { return r.weight; });
  keep("normalizer", [](const AdaBoostRound& r) { return r.normalizer; });
  keep("edge", [](const AdaBoostRound& r) { return r.edge; });
  keep("reset_before",
       [](const AdaBoostRound& r) { return static_cast<std::uint8_t>(r.reset_before); });
  return arrays;
}

// Called with the GIL released, on the thread that called the fit.
AdaBoostCallback callback_from(const nb::object& callback, std::size_t n_validation_rows) {
  if (callback.is_none()) return {};
  return [callback, n_validation_rows](const AdaBoostProgress& progress) {
    const nb::gil_scoped_acquire gil;
    nb::object scores = nb::none();
    if (n_validation_rows > 0) {
      const std::span<const double> sums = progress.validation_scores;
      scores = nb::cast(to_numpy<double, 2>({sums.begin(), sums.end()},
                                            {n_validation_rows, sums.size() / n_validation_rows}));
    }
    const AdaBoostRound& round = progress.round;
    return nb::cast<bool>(callback(progress.n_rounds, round.error, round.weight, scores));
  };
}

using Fitted = std::tuple<Forest, nb::dict, std::string, std::size_t, std::string, double>;

Fitted fit(const BinnedDataset& table, const Labels& labels, std::size_t n_classes,
           const std::optional<Floats>& weights, const InArray<RowIndex>& validation_rows,
           const AdaBoostOptions& options, const nb::object& callback, int n_threads,
           std::uint64_t seed) {
  const AdaBoostData data{table, span_of(labels), n_classes, span_of(weights),
                          span_of(validation_rows)};
  const AdaBoostCallback report = callback_from(callback, validation_rows.size());
  const Context context = make_context(n_threads, seed);
  AdaBoosted boosted;
  {
    const nb::gil_scoped_release unlocked;
    boosted = fit_adaboost(data, options, report, context);
  }
  return {std::move(boosted.forest), to_dict(boosted.rounds),     name_of(kVotes, boosted.vote),
          boosted.trees_a_round,     name_of(kEnds, boosted.end), boosted.weak_error};
}

// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 2> scores(const WeightedForest& members, const Table& table, int n_threads) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> sums;
  {
    const nb::gil_scoped_release unlocked;
    sums = member_scores(*members.forest, members.votes, table, context);
  }
  return to_numpy<double, 2>(std::move(sums), {table.n_rows, members.votes.n_outputs()});
}

using Sums = nb::ndarray<const double, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Called with the GIL held; releases it.
template <class Table>
OutArray<double, 3> staged_scores(const WeightedForest& members, const Table& table, int n_threads,
                                  std::size_t first, std::size_t last, const Sums& before) {
  const Context context = make_context(n_threads, 0);
  std::vector<double> sums;
  {
    const nb::gil_scoped_release unlocked;
    sums = staged_member_scores(*members.forest, members.votes, first, last,
                                {before.data(), before.size()}, table, context);
  }
  return to_numpy<double, 3>(std::move(sums),
                             {last - first, table.n_rows, members.votes.n_outputs()});
}

void init_options(nb::module_& m) {
  const AdaBoostOptions core;
  nb::class_<AdaBoostOptions>(m, "AdaBoostOptions", "How to boost; -1 means no limit, or all.")
      .def(
          "__init__",
          [](AdaBoostOptions* self, const std::string& algorithm, std::uint32_t n_rounds,
             double learning_rate, const std::string& criterion, std::int32_t max_depth,
             std::int64_t max_leaf_nodes, std::uint64_t min_samples_split,
             std::uint64_t min_samples_leaf, double min_weight_fraction_leaf,
             double min_impurity_decrease, FeatureIndex max_features, bool random_splits,
             std::vector<std::int8_t> monotonic, double weight_trimming, bool resets) {
            new (self)
                AdaBoostOptions{named(kAlgorithms, algorithm),
                                n_rounds,
                                learning_rate,
                                growth_options(max_depth, max_leaf_nodes, min_samples_split,
                                               min_samples_leaf, min_weight_fraction_leaf,
                                               min_impurity_decrease, max_features, random_splits),
                                class_measure_named(criterion),
                                weight_trimming,
                                resets ? OnDegenerate::reset : OnDegenerate::stop};
            self->growth.monotonic = std::move(monotonic);
          },
          nb::kw_only(), nb::arg("algorithm"), nb::arg("n_rounds"),
          nb::arg("learning_rate") = core.learning_rate,
          nb::arg("criterion") = name_of(kClassMeasures, core.measure),
          nb::arg("max_depth") = kNoLimit, nb::arg("max_leaf_nodes") = kNoLimit,
          nb::arg("min_samples_split") = core.growth.min_samples_split,
          nb::arg("min_samples_leaf") = core.growth.min_samples_leaf,
          nb::arg("min_weight_fraction_leaf") = core.growth.min_weight_fraction_leaf,
          nb::arg("min_impurity_decrease") = core.growth.min_impurity_decrease,
          nb::arg("max_features") = core.growth.max_features,
          nb::arg("random_splits") = core.growth.random_splits,
          nb::arg("monotonic") = core.growth.monotonic,
          nb::arg("weight_trimming") = core.weight_trimming,
          nb::arg("resets") = core.on_degenerate == OnDegenerate::reset);
}

void init_members(nb::module_& m) {
  nb::class_<WeightedForest> members(m, "WeightedForest", "Trees that vote with weights.");
  members.def(
      "__init__",
      [](WeightedForest* self, const Forest& forest, const std::string& vote, const Floats& weights,
         std::size_t trees_a_member) {
        new (self) WeightedForest{
            &forest, MemberVotes(forest, named(kVotes, vote), span_of(weights), trees_a_member)};
      },
      nb::arg("forest"), nb::arg("vote"), nb::arg("weights"), nb::arg("trees_a_member"),
      nb::keep_alive<1, 2>());
  members.def(
      "leaf_votes",
      [](const WeightedForest& model, std::size_t tree) {
        require(tree < model.forest->trees.size(), "the forest has fewer trees than that");
        const std::span<const double> leaf_votes = model.votes.leaf_votes(tree);
        const std::size_t width = model.votes.width();
        return to_numpy<double, 2>({leaf_votes.begin(), leaf_votes.end()},
                                   {leaf_votes.size() / width, width});
      },
      nb::arg("tree"), "Votes of the leaves of a tree, times the weight of its member.");
  def_table_method(members, "scores",
                   [](const WeightedForest& model, const auto& table, int n_threads) {
                     return scores(model, table, n_threads);
                   });
  def_table_method<std::size_t, std::size_t, const Sums&>(
      members, "staged_scores",
      [](const WeightedForest& model, const auto& table, int n_threads, std::size_t first,
         std::size_t last, const Sums& before) {
        return staged_scores(model, table, n_threads, first, last, before);
      },
      nb::arg("first"), nb::arg("last"), nb::arg("before"));
}

}  // namespace

void init_adaboost(nb::module_& m) {
  init_options(m);
  init_members(m);
  m.def("fit_adaboost", &fit, nb::arg("table"), nb::arg("labels"), nb::arg("n_classes"),
        nb::arg("weights").none(), nb::arg("validation_rows"), nb::arg("options"),
        nb::arg("callback").none(), nb::arg("n_threads"), nb::arg("seed"));
}

}  // namespace arboleda::python
