#include "learn/forest.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/thread_pool.h"
#include "criterion/moments.h"
#include "learn/multi_output_cart.h"

namespace arboleda {

namespace {

// Numbers of trees are 24 bits of a random stream's key.
constexpr std::uint64_t kMostTrees = std::uint64_t{1} << 24;

using Labels = std::span<const std::uint32_t>;

// What the loop needs of a target.
struct Learner {
  Labels labels = {};  // of classification: as the caller gave them
  std::span<const std::size_t> n_classes = {};
  FixedWeights weights = {};  // of the sample
  int weight_bits = 0;        // that the total of a bag must fit
  bool written_out = false;   // weights of 1 must be written out
  Measure measure = Measure::gini;
  std::size_t n_outputs = 1;
  // Labels are those of the tree, where some were switched.
  std::function<TreeArrays(const TreeTask&, Labels)> grow = {};
};

class ForestLoop {
 public:
  ForestLoop(const BinnedDataset& table, std::span<const double> weights, const Learner& learner,
             const ForestOptions& options, const BagDraw& bags, const Context& context)
      : table_(table),
        real_weights_(weights),
        learner_(learner),
        options_(options),
        context_(context),
        bags_(bags),
        layouts_(make_layouts()),
        rows_(bags.rows()),
        switch_(make_switch()) {
    require(
        options.n_trees >= 1 && std::uint64_t{options.first_tree} + options.n_trees <= kMostTrees,
        "a forest has from 1 to 16,777,216 trees");
  }

  Forest run(const ForestProgress& progress) {
    const std::size_t n_trees = options_.n_trees;
    Forest forest{table_.n_features(), static_cast<std::int32_t>(learner_.n_outputs),
                  learner_.measure, std::vector<CompactTree>(n_trees),
                  options_.keep_rows ? table_.n_rows : 0};
    const int n_threads = context_.n_threads();
    if (n_trees >= static_cast<std::size_t>(n_threads)) {
      std::vector<Workspace> workspaces(static_cast<std::size_t>(n_threads));
      parallel_for(n_threads, n_trees, [&](std::size_t task, int worker) {
        if (stopped_) return;
        context_.check();
        const Context alone = context_.of_one_task();
        auto& mine = workspaces[static_cast<std::size_t>(worker)];
        forest.trees[task] = grow(task, alone, mine);
        ++n_done_;
        if (worker == 0) report_progress(progress);
      });
    } else {
      Workspace workspace;
      for (std::size_t task = 0; task < n_trees && !stopped_; ++task) {
        forest.trees[task] = grow(task, context_, workspace);
        ++n_done_;
        report_progress(progress);
      }
    }
    if (n_reported_ != n_done_) report_progress(progress);
    // Tasks are begun in order, and those begun end: what is missing are the last.
    forest.trees.resize(n_done_);
    return_free_memory(table_.n_rows * table_.columns.size() * n_trees);
    return forest;
  }

 private:
  // Scratch of one thread.
  struct Workspace {
    std::vector<std::uint32_t> counts;  // of each row in the bag
    std::vector<std::uint32_t> labels;
    std::vector<double> real_weights;
    FixedWeights weights;
    GrownTree nodes;
  };

  LabelSwitch make_switch() const {
    require(options_.switching.share == 0.0 || learner_.n_classes.size() == 1,
            "only the labels of one output can be switched");
    return LabelSwitch(options_.switching, rows_, learner_.labels, context_.seed());
  }

  RowLayouts make_layouts() const {
    const FeatureIndex n_looks = options_.growth.max_features;
    const bool uses_binary_features = learner_.n_classes.size() == 1;
    RowLayouts layouts{
        uses_binary_features ? BinaryFeatureTable(table_, n_looks) : BinaryFeatureTable(),
        CodeRows(table_, n_looks, context_)};
    const bool uses_number_columns =
        !layouts.binary_features.empty() && !layouts.binary_features.sums_all();
    const bool draws_splits = options_.growth.random_splits &&
                              (uses_binary_features || learner_.measure == Measure::squared_error);
    if ((uses_binary_features && uses_number_columns) || draws_splits) {
      layouts.numeric_features = NumericFeatureRows(table_, n_looks, context_);
    }
    return layouts;
  }

  void report_progress(const ForestProgress& progress) {
    n_reported_ = n_done_;
    if (progress && progress(n_reported_)) stopped_ = true;
  }

  CompactTree grow(std::size_t task, const Context& context, Workspace& workspace) const {
    GrowthOptions growth = options_.growth;
    growth.tree = options_.first_tree + static_cast<std::uint32_t>(task);
    growth.features =
        draw_columns(options_.columns, table_.n_features(), context.seed(), growth.tree);
    bags_.counts(growth.tree, workspace.counts);
    Labels labels = learner_.labels;
    if (options_.switching.share > 0.0) {
      switch_.labels(growth.tree, workspace.labels);
      labels = workspace.labels;
    }
    if (options_.balance_classes) {
      weigh_balanced(labels, workspace);
    } else {
      weigh(workspace);
    }
    if (learner_.written_out) write_out(workspace.weights, table_.n_rows);
    std::vector<RowIndex> rows;
    const TreeArrays tree =
        learner_.grow({table_, workspace.weights, growth, context,
                       options_.keep_rows ? &rows : nullptr, &layouts_, &workspace.nodes},
                      labels);
    return compact(tree, learner_.measure, std::move(rows));
  }

  // A row weighs its sample weight times the number of its draws.
  void weigh(Workspace& workspace) const {
    const FixedWeights& sample = learner_.weights;
    const auto& counts = workspace.counts;
    FixedWeights& bag = workspace.weights;
    bag.unit = sample.unit;
    bag.total = 0;
    bag.dropped.clear();
    bag.value.resize(counts.size());
    std::uint64_t most = 0;
    const auto set = [&](std::size_t i, std::uint64_t value) {
      bag.value[i] = value;
      bag.total += value;
      most = std::max(most, value);
    };
    if (sample.is_unit()) {
      for (std::size_t i = 0; i < counts.size(); ++i) set(i, counts[i]);
    } else {
      for (std::size_t i = 0; i < counts.size(); ++i) set(i, counts[i] * sample.value[i]);
    }
    if (sample.is_unit() && most == 1) {
      if (bag.total < counts.size()) bag.dropped.assign(counts.size(), false);
      for (std::size_t i = 0; i < bag.dropped.size(); ++i) bag.dropped[i] = counts[i] == 0;
      bag.value.clear();
    }
    if (bit_length(bag.total) > learner_.weight_bits) {
      throw Error(ErrorKind::internal, "the weights of a bag are out of range");
    }
  }

  // The classes of each output weigh the same, by the number of their draws.
  void weigh_balanced(Labels labels, Workspace& workspace) const {
    const std::size_t n = table_.n_rows;
    auto& weights = workspace.real_weights;
    weights.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] = workspace.counts[i] * (real_weights_.empty() ? 1.0 : real_weights_[i]);
    }
    for (std::size_t k = 0; k < learner_.n_classes.size(); ++k) {
      const Labels of_output = labels.subspan(k * n, n);
      std::vector<double> drawn(learner_.n_classes[k]);
      for (std::size_t i = 0; i < n; ++i) drawn[of_output[i]] += workspace.counts[i];
      const auto n_present =
          std::count_if(drawn.begin(), drawn.end(), [](double d) { return d > 0; });
      const double share = static_cast<double>(bags_.n_drawn()) / static_cast<double>(n_present);
      for (std::size_t i = 0; i < n; ++i) {
        if (weights[i] > 0.0) weights[i] *= share / drawn[of_output[i]];
      }
    }
    workspace.weights = fix_weights(weights, n, learner_.weight_bits);
  }

  const BinnedDataset& table_;
  const std::span<const double> real_weights_;
  const Learner& learner_;
  const ForestOptions& options_;
  const Context& context_;
  const BagDraw& bags_;
  const RowLayouts layouts_;  // shared by all trees
  const std::vector<RowIndex> rows_;
  const LabelSwitch switch_;
  std::atomic<std::size_t> n_done_{0};
  std::size_t n_reported_ = 0;
  std::atomic<bool> stopped_{false};
};

// Of the heaviest bag.
int total_bits(const FixedWeights& sample, const BagDraw& bags) {
  return sample.is_unit() ? bit_length(bags.n_drawn())
                          : bit_length(sample.total) + bags.count_bits();
}

static_assert(static_cast<int>(Measure::gini) == static_cast<int>(ClassMeasure::gini) &&
              static_cast<int>(Measure::entropy) == static_cast<int>(ClassMeasure::entropy) &&
              static_cast<int>(Measure::misclassification) ==
                  static_cast<int>(ClassMeasure::misclassification));

}  // namespace

Forest fit_classification_forest(const BinnedDataset& table, Labels labels,
                                 std::span<const std::size_t> n_classes,
                                 std::span<const double> weights, ClassMeasure measure,
                                 const ForestOptions& options, const ForestProgress& progress,
                                 const Context& context) {
  check_multi_output_labels(labels, table.n_rows, n_classes);
  require(options.bag.kind != BagKind::balanced_bootstrap || n_classes.size() == 1,
          "only bags of one output can be balanced");
  const BagDraw bags(options.bag, {table.n_rows, weights, labels}, context.seed());
  Learner learner{.labels = labels, .n_classes = n_classes, .weight_bits = kClassWeightBits};
  learner.weights = fix_weights(weights, table.n_rows, kClassWeightBits - bags.count_bits());
  if (n_classes.size() == 1) {
    learner.measure = static_cast<Measure>(measure);
    learner.n_outputs = n_classes[0];
    learner.grow = [=](const TreeTask& task, Labels of_tree) {
      return grow_classification_tree(task, of_tree, n_classes[0], measure);
    };
  } else {
    learner.written_out = true;
    learner.measure = Measure::means;
    learner.n_outputs = std::accumulate(n_classes.begin(), n_classes.end(), std::size_t{0});
    learner.grow = [=](const TreeTask& task, Labels of_tree) {
      return grow_multi_output_classification_tree(task, of_tree, n_classes, measure);
    };
  }
  return ForestLoop(table, weights, learner, options, bags, context).run(progress);
}

Forest fit_regression_forest(const BinnedDataset& table, std::span<const double> targets,
                             std::size_t n_outputs, std::span<const double> weights,
                             RegressionMeasure measure, const ForestOptions& options,
                             const ForestProgress& progress, const Context& context) {
  require(n_outputs >= 1 && targets.size() == table.n_rows * n_outputs,
          "one target a row and output is needed");
  require(options.bag.kind != BagKind::balanced_bootstrap && !options.balance_classes,
          "only bags of classes can be balanced");
  const BagDraw bags(options.bag, {table.n_rows, weights}, context.seed());
  Learner learner{.weight_bits = weight_bits(measure), .n_outputs = n_outputs};
  learner.weights = fix_weights(weights, table.n_rows, learner.weight_bits - bags.count_bits());
  const bool medians = measure == RegressionMeasure::absolute_error || is_log_rank(measure);
  const bool several = n_outputs > 1;
  RegressionTargets of_one;
  MultiOutputTargets of_several;
  if (several) {
    learner.written_out = true;
    learner.measure = medians ? Measure::medians : Measure::means;
    of_several = fix_multi_output_targets(targets, n_outputs, learner.weights, measure);
    learner.grow = [&](const TreeTask& task, Labels) {
      return grow_multi_output_regression_tree(task, of_several, measure);
    };
  } else {
    learner.measure = medians                                 ? Measure::medians
                      : measure == RegressionMeasure::poisson ? Measure::poisson
                                                              : Measure::squared_error;
    of_one = fix_regression_targets(targets, learner.weights, total_bits(learner.weights, bags),
                                    measure);
    learner.grow = [&](const TreeTask& task, Labels) {
      return grow_regression_tree(task, of_one, measure);
    };
  }
  return ForestLoop(table, weights, learner, options, bags, context).run(progress);
}

}  // namespace arboleda
