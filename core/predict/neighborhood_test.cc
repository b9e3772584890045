#include "predict/neighborhood.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "learn/forest.h"
#include "learn/mixed_problem.h"
#include "predict/forest.h"
#include "predict/predict.h"
#include "predict/proximity.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kSeed = 7;
const std::vector<std::size_t> kClasses{3};
using Matrix = std::vector<std::vector<double>>;

// A forest on the problem's dense columns, and all that its neighbourhoods need.
struct Grown {
  explicit Grown(const MixedProblem& of, ForestOptions with, bool weighted, bool classes)
      : problem(of), options(std::move(with)) {
    const Context context(1, kSeed);
    const BinnedDataset table = problem.mixed(context);
    options.keep_rows = true;
    options.growth.max_features = 2;
    const auto labels = std::span<const std::uint32_t>(problem.labels).first(problem.n);
    if (weighted) weights.sample = problem.weights;
    forest = classes ? fit_classification_forest(table, labels, kClasses, weights.sample,
                                                 ClassMeasure::gini, options, {}, context)
                     : fit_regression_forest(table, std::span(problem.y).first(problem.n), 1,
                                             weights.sample, RegressionMeasure::squared_error,
                                             options, {}, context);
    if (!options.balance_classes) return;
    weights.labels = labels;
    weights.n_classes = kClasses;
  }

  TableView table() const { return problem.dense_view(MixedProblem::kDense); }
  BagDraw bags() const {
    return {options.bag,
            {problem.n, weights.sample, std::span(problem.labels).first(problem.n)},
            kSeed};
  }
  Neighborhood neighborhood(int n_threads) const {
    const BagDraw draw = bags();
    return {forest, {draw}, problem.n, weights, Context(n_threads)};
  }

  const MixedProblem& problem;
  ForestOptions options;
  NeighborWeights weights;
  Forest forest;
};

ForestOptions options_of(BagKind kind, std::int32_t max_depth) {
  ForestOptions options;
  options.n_trees = 9;
  options.bag.kind = kind;
  options.growth.max_depth = max_depth;
  return options;
}

std::vector<Grown> forests(const MixedProblem& problem) {
  std::vector<Grown> all;
  all.emplace_back(problem, options_of(BagKind::bootstrap, -1), false, false);
  all.emplace_back(problem, options_of(BagKind::bootstrap, 3), true, false);
  all.emplace_back(problem, options_of(BagKind::all, 4), true, false);
  all.emplace_back(problem, options_of(BagKind::without_replacement, 5), false, false);
  all.emplace_back(problem, options_of(BagKind::balanced_bootstrap, 4), false, true);
  ForestOptions balanced = options_of(BagKind::bootstrap, 4);
  balanced.balance_classes = true;
  all.emplace_back(problem, balanced, true, true);
  return all;
}

std::vector<NodeIndex> leaves_of(const Grown& grown, std::size_t tree) {
  std::vector<NodeIndex> leaves(grown.problem.n);
  apply_tree(tree_of(grown.forest, tree), grown.table(), Context(1), leaves);
  return leaves;
}

std::vector<std::uint32_t> counts_of(const Grown& grown, std::size_t tree) {
  std::vector<std::uint32_t> counts;
  grown.bags().counts(static_cast<std::uint32_t>(tree), counts);
  return counts;
}

// What row i weighs in a tree with these counts.
double weight_in_tree(const Grown& grown, const std::vector<std::uint32_t>& counts, std::size_t i) {
  double weight = counts[i] * (grown.weights.sample.empty() ? 1.0 : grown.weights.sample[i]);
  if (!grown.options.balance_classes) return weight;
  double drawn = 0.0;
  for (std::size_t j = 0; j < grown.problem.n; ++j) {
    if (grown.problem.labels[j] == grown.problem.labels[i]) drawn += counts[j];
  }
  return weight / drawn;
}

// The definition, over all pairs of rows.
Matrix naive_weights(const Grown& grown) {
  const std::size_t n = grown.problem.n;
  Matrix W(n, std::vector<double>(n, 0.0));
  for (std::size_t t = 0; t < grown.forest.trees.size(); ++t) {
    const auto leaves = leaves_of(grown, t);
    const auto counts = counts_of(grown, t);
    std::vector<double> weight(n);
    for (std::size_t i = 0; i < n; ++i) weight[i] = weight_in_tree(grown, counts, i);
    for (std::size_t x = 0; x < n; ++x) {
      double total = 0.0;
      for (std::size_t i = 0; i < n; ++i) total += leaves[i] == leaves[x] ? weight[i] : 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        if (leaves[i] == leaves[x]) W[x][i] += weight[i] / total;
      }
    }
  }
  for (auto& row : W) {
    for (double& w : row) w /= static_cast<double>(grown.forest.trees.size());
  }
  return W;
}

Matrix dense(const SparseSums& sums, std::size_t n_columns) {
  Matrix all(sums.start.size() - 1, std::vector<double>(n_columns, 0.0));
  for (std::size_t i = 0; i + 1 < sums.start.size(); ++i) {
    for (auto e = static_cast<std::size_t>(sums.start[i]);
         e < static_cast<std::size_t>(sums.start[i + 1]); ++e) {
      all[i][static_cast<std::size_t>(sums.index[e])] = sums.value[e];
    }
  }
  return all;
}

double largest_difference(const Matrix& a, const Matrix& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      most = std::max(most, std::abs(a[i][j] - b[i][j]));
    }
  }
  return most;
}

bool same(const SparseSums& a, const SparseSums& b) {
  return a.start == b.start && a.index == b.index && a.value == b.value;
}

// By definition: the smallest target up to which the weights reach the level.
double naive_quantile(const std::vector<double>& weights, std::span<const double> y, double level) {
  std::vector<std::size_t> order(y.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return y[a] < y[b]; });
  double sum = 0.0, last = 0.0;
  for (const std::size_t i : order) {
    if (weights[i] == 0.0) continue;
    sum += weights[i];
    last = y[i];
    if (sum >= level - 1e-9) return last;
  }
  return last;
}

}  // namespace

TEST_CASE("the weights of neighbours are those of the definition") {
  const MixedProblem problem(150);
  for (const Grown& grown : forests(problem)) {
    const SparseSums found = grown.neighborhood(1).weights(grown.table(), Context(1));
    CHECK(largest_difference(dense(found, problem.n), naive_weights(grown)) < 1e-13);
    for (std::size_t i = 0; i < problem.n; ++i) {
      const auto first = found.index.begin() + found.start[i];
      const auto last = found.index.begin() + found.start[i + 1];
      CHECK(std::adjacent_find(first, last, std::greater_equal<>()) == last);
      CHECK(std::accumulate(found.value.begin() + found.start[i],
                            found.value.begin() + found.start[i + 1],
                            0.0) == doctest::Approx(1.0).epsilon(1e-13));
    }
  }
}

TEST_CASE("the weighted mean of the targets is the forest's prediction") {
  const MixedProblem problem(400);
  for (const Grown& grown : forests(problem)) {
    const bool classes = grown.forest.n_outputs > 1;
    const std::vector<std::size_t> n_classes(classes ? 1 : 0, 3);
    const Ballot ballot(grown.forest, Voting::soft, n_classes);
    const auto prediction = mean_votes(grown.forest, ballot, grown.table(), Context(2));
    const auto W = dense(grown.neighborhood(2).weights(grown.table(), Context(2)), problem.n);
    const auto n_outputs = static_cast<std::size_t>(grown.forest.n_outputs);
    for (std::size_t x = 0; x < problem.n; ++x) {
      std::vector<double> mean(n_outputs, 0.0);
      for (std::size_t i = 0; i < problem.n; ++i) {
        mean[classes ? problem.labels[i] : 0] += W[x][i] * (classes ? 1.0 : problem.y[i]);
      }
      for (std::size_t k = 0; k < n_outputs; ++k) {
        CHECK(mean[k] == doctest::Approx(prediction[x * n_outputs + k]).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("quantiles are those of the weighted targets") {
  const MixedProblem problem(150);
  const std::vector<double> levels{0.0, 0.05, 0.25, 0.5, 0.9, 1.0};
  for (const Grown& grown : forests(problem)) {
    const auto W = naive_weights(grown);
    const WantedQuantiles wanted{problem.y, 2, levels};
    const auto found = grown.neighborhood(2).quantiles(grown.table(), wanted, Context(2));
    for (std::size_t x = 0; x < problem.n; ++x) {
      for (std::size_t k = 0; k < 2; ++k) {
        const auto y = std::span<const double>(problem.y).subspan(k * problem.n, problem.n);
        for (std::size_t l = 0; l < levels.size(); ++l) {
          CHECK(found[(x * 2 + k) * levels.size() + l] == naive_quantile(W[x], y, levels[l]));
        }
      }
    }
  }
}

TEST_CASE("proximity is the share of the trees in which two rows share a leaf") {
  const MixedProblem problem(150);
  for (const Grown& grown : forests(problem)) {
    Matrix all(problem.n, std::vector<double>(problem.n, 0.0)), out = all, n_out = all;
    for (std::size_t t = 0; t < grown.forest.trees.size(); ++t) {
      const auto leaves = leaves_of(grown, t);
      const auto counts = counts_of(grown, t);
      for (std::size_t i = 0; i < problem.n; ++i) {
        for (std::size_t j = 0; j < problem.n; ++j) {
          const bool together = leaves[i] == leaves[j];
          const bool left_out = counts[i] == 0 && counts[j] == 0;
          all[i][j] += together / static_cast<double>(grown.forest.trees.size());
          out[i][j] += together && left_out;
          n_out[i][j] += left_out;
        }
      }
    }
    for (std::size_t i = 0; i < problem.n; ++i) {
      for (std::size_t j = 0; j < problem.n; ++j) out[i][j] /= std::max(1.0, n_out[i][j]);
    }
    const Context context(2);
    const Proximity of_all(grown.forest, grown.table(), nullptr, context);
    CHECK(largest_difference(dense(of_all.of(grown.table(), 0, context), problem.n), all) < 1e-15);
    const BagDraw draw = grown.bags();
    const ForestBags bags{draw};
    const Proximity of_out(grown.forest, grown.table(), &bags, context);
    const auto half = rows_between(grown.table(), 70, problem.n);
    const Matrix second_half(out.begin() + 70, out.end());
    CHECK(largest_difference(dense(of_out.of(half, 70, context), problem.n), second_half) < 1e-15);
  }
}

TEST_CASE("threads and neighbours in the table change no bit") {
  const MixedProblem problem(300);
  for (const Grown& grown : forests(problem)) {
    const SparseSums one = grown.neighborhood(1).weights(grown.table(), Context(1));
    CHECK(same(one, grown.neighborhood(3).weights(grown.table(), Context(3))));
    std::vector<SparseSums> parts;
    for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 123}, {123, 300}}) {
      parts.push_back(
          grown.neighborhood(2).weights(rows_between(grown.table(), begin, end), Context(2)));
    }
    CHECK(same(one, joined(std::move(parts))));
    const Proximity near(grown.forest, grown.table(), nullptr, Context(1));
    const Proximity with_threads(grown.forest, grown.table(), nullptr, Context(3));
    CHECK(
        same(near.of(grown.table(), 0, Context(1)), with_threads.of(grown.table(), 0, Context(3))));
  }
}

TEST_CASE("rows that the forest does not keep, or others than its own, are refused") {
  const MixedProblem problem(100);
  Grown grown(problem, options_of(BagKind::bootstrap, 4), false, false);
  const BagDraw own = grown.bags();
  const BagDraw other(grown.options.bag, {problem.n}, kSeed + 1);
  CHECK_THROWS_AS(Neighborhood(grown.forest, {other}, problem.n, {}, Context(1)), Error);
  CHECK_THROWS_AS(Neighborhood(grown.forest, {own}, 10, {}, Context(1)), Error);
  for (CompactTree& tree : grown.forest.trees) tree.row.clear();
  grown.forest.n_training_rows = 0;
  CHECK_THROWS_AS(grown.neighborhood(1), Error);
}

TEST_CASE("the rows of a table between two are the same rows") {
  const std::vector<std::int64_t> start{0, 2, 2, 3, 5};
  const std::vector<std::int32_t> index{0, 2, 1, 0, 1};
  const std::vector<double> data{1, 2, 3, 4, 5};
  const ColumnView view{reinterpret_cast<const std::byte*>(data.data()), sizeof(double),
                        DType::float64};
  const SparseRows table{4, 3, {start, index, view}};
  const SparseRows part = rows_between(table, 2, 4);
  CHECK(part.n_rows == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) CHECK(part.at(i, j) == table.at(i + 2, j));
  }
}

}  // namespace arboleda
