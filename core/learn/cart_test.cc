#include "learn/cart.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "base/random.h"
#include "base/thread_pool.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Problem {
  std::vector<std::vector<double>> columns;
  std::vector<std::uint32_t> labels;
  std::vector<double> y, weights;

  TableView table() const {
    TableView view{labels.size(), {}};
    for (const auto& c : columns) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(c.data()), sizeof(double), DType::float64});
    }
    return view;
  }
};

// Columns of few and of many values, ties, missing values; three classes that depend on two columns.
Problem make_problem(std::size_t n, std::size_t p, std::uint64_t seed) {
  RandomStream random(seed, Purpose::feature_subset, 0, 0);
  Problem problem;
  problem.columns.assign(p, std::vector<double>(n));
  for (std::size_t j = 0; j < p; ++j) {
    for (auto& x : problem.columns[j]) {
      x = j % 3 == 0 ? random.below(4) : random.below(100000) * 0.37;
      if (j % 4 == 1 && random.below(6) == 0) x = kNaN;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double x0 = problem.columns[0][i];
    const double x1 = problem.columns[1 % p][i];
    problem.labels.push_back((x0 > 1 ? 1u : 0u) + (std::isnan(x1) || x1 > 20000 ? 1u : 0u));
    if (random.below(5) == 0) problem.labels.back() = random.below(3);
    problem.y.push_back(3 * x0 + (std::isnan(x1) ? 7.0 : x1 * 1e-4) + random.below(100) * 0.01);
    problem.weights.push_back(random.below(8) == 0 ? 0.0 : 0.2 + random.below(100) * 0.03);
  }
  return problem;
}

// Impurity by the textbook's formula, in float64.
double naive_impurity(
    const Problem& problem, const std::vector<RowIndex>& rows, bool weighted,
    int measure) {  // 0 gini, 1 entropy, 2 misclassification, 3 variance, 4 absolute error,
                    // 5 half Poisson deviance
  double w = 0, mean = 0, variance = 0;
  std::map<std::uint32_t, double> share;
  for (const auto i : rows) {
    const double wi = weighted ? problem.weights[i] : 1.0;
    w += wi;
    share[problem.labels[i]] += wi;
    mean += wi * problem.y[i];
  }
  mean /= w;
  for (const auto i : rows) {
    variance +=
        (weighted ? problem.weights[i] : 1.0) * (problem.y[i] - mean) * (problem.y[i] - mean) / w;
  }
  if (measure == 4) {  // the median is one of the targets
    double least = std::numeric_limits<double>::infinity();
    for (const auto m : rows) {
      double loss = 0;
      for (const auto i : rows) {
        loss += (weighted ? problem.weights[i] : 1.0) * std::abs(problem.y[i] - problem.y[m]) / w;
      }
      least = std::min(least, loss);
    }
    return least;
  }
  if (measure == 5) {
    double deviance = 0;
    for (const auto i : rows) {
      const double y = problem.y[i];
      if (y > 0) deviance += (weighted ? problem.weights[i] : 1.0) * y * std::log(y / mean) / w;
    }
    return mean > 0 ? deviance : std::numeric_limits<double>::infinity();
  }
  double gini = 0, entropy = 0, most = 0;
  for (auto& [k, s] : share) {
    s /= w;
    gini += s * (1 - s);
    if (s > 0) entropy -= s * std::log2(s);
    most = std::max(most, s);
  }
  return measure == 0 ? gini : measure == 1 ? entropy : measure == 2 ? 1 - most : variance;
}

double weight_of(const Problem& problem, const std::vector<RowIndex>& rows, bool weighted) {
  double w = 0;
  for (const auto i : rows) w += weighted ? problem.weights[i] : 1.0;
  return w;
}

// W_L impurity_L + W_R impurity_R of one split.
double naive_children(const Problem& problem, const std::vector<RowIndex>& rows,
                      std::size_t feature, double threshold, bool missing_left, bool weighted,
                      int measure) {
  std::vector<RowIndex> left, right;
  for (const auto i : rows) {
    const double x = problem.columns[feature][i];
    ((std::isnan(x) ? missing_left : x <= threshold) ? left : right).push_back(i);
  }
  if (left.empty() || right.empty()) return std::numeric_limits<double>::infinity();
  return weight_of(problem, left, weighted) * naive_impurity(problem, left, weighted, measure) +
         weight_of(problem, right, weighted) * naive_impurity(problem, right, weighted, measure);
}

// Every internal node's split is as good as the best found by trying everything.
void check_tree(const Problem& problem, const Tree& tree, bool weighted, int measure) {
  const TableView table = problem.table();
  const TreeArrays& a = tree.arrays();
  std::vector<std::vector<RowIndex>> rows(a.right.size());
  const DecisionPath path = decision_path(tree, table, Context());
  for (std::size_t i = 0; i < problem.labels.size(); ++i) {
    if (weighted && problem.weights[i] == 0) continue;
    for (auto s = path.start[i]; s < path.start[i + 1]; ++s) {
      rows[static_cast<std::size_t>(path.node[static_cast<std::size_t>(s)])].push_back(
          static_cast<RowIndex>(i));
    }
  }
  for (std::size_t node = 0; node < rows.size(); ++node) {
    REQUIRE(static_cast<std::size_t>(a.n_node_samples[node]) == rows[node].size());
    CHECK(a.weight[node] == doctest::Approx(weight_of(problem, rows[node], weighted)));
    CHECK(tree.impurity()[node] ==
          doctest::Approx(naive_impurity(problem, rows[node], weighted, measure)).epsilon(1e-9));
    if (a.right[node] < 0) continue;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < problem.columns.size(); ++j) {
      for (const auto i : rows[node]) {
        const double x = problem.columns[j][i];
        for (const bool missing_left : {false, true}) {
          if (std::isnan(x)) continue;
          best = std::min(
              best, naive_children(problem, rows[node], j, x, missing_left, weighted, measure));
        }
      }
    }
    const double ours =
        naive_children(problem, rows[node], static_cast<std::size_t>(a.feature[node]),
                       a.threshold[node], a.missing_left[node] != 0, weighted, measure);
    CHECK(ours == doctest::Approx(best).epsilon(1e-9));
  }
}

Tree fit(const Problem& problem, const BinnedDataset& coded, bool weighted, int measure,
         const GrowthOptions& options, const Context& context) {
  const std::vector<double> weights = weighted ? problem.weights : std::vector<double>{};
  if (measure >= 3) {
    return fit_regression_tree(coded, problem.y, weights,
                               static_cast<RegressionMeasure>(measure - 3), options, context);
  }
  return fit_classification_tree(coded, problem.labels, 3, weights,
                                 static_cast<ClassMeasure>(measure), options, context);
}

bool same_bytes(const TreeArrays& a, const TreeArrays& b) {
  return a.impurity_exponent == b.impurity_exponent && a.feature == b.feature &&
         a.threshold == b.threshold && a.right == b.right && a.missing_left == b.missing_left &&
         a.impurity == b.impurity && a.n_node_samples == b.n_node_samples && a.weight == b.weight &&
         a.value == b.value;
}

}  // namespace

TEST_CASE("every split is the best of all splits; impurities follow their definitions" *
          doctest::test_suite("one thread")) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Problem problem = make_problem(90, 5, seed);
    const BinnedDataset coded = code_table(problem.table(), Context());
    for (const bool weighted : {false, true}) {
      for (const int measure : {0, 1, 2, 3, 4, 5}) {
        CAPTURE(measure);
        CAPTURE(weighted);
        check_tree(problem, fit(problem, coded, weighted, measure, {}, Context()), weighted,
                   measure);
        GrowthOptions best_first;
        best_first.policy = GrowthPolicy::best_first;
        best_first.max_leaf_nodes = 6;
        const Tree small = fit(problem, coded, weighted, measure, best_first, Context());
        CHECK(small.n_leaves() <= 6);
        check_tree(problem, small, weighted, measure);
      }
    }
  }
}

// ThreadSanitizer, which makes this test minutes long, looks for races, which three threads have as well.
#if defined(__SANITIZE_THREAD__)
constexpr std::array kNumbersOfThreads{3};
#else
constexpr std::array kNumbersOfThreads{2, 3, 8};
#endif

TEST_CASE("the same bytes with 1, 2, 3 and 8 threads, by features and by subtrees") {
  const Problem problem = make_problem(6000, 30, 11);
  const BinnedDataset coded = code_table(problem.table(), Context());
  REQUIRE(6000 * 30 >= kParallelWork);
  for (const bool weighted : {false, true}) {
    for (const int measure : {0, 1, 3, 4, 5}) {
      for (const bool best_first : {false, true}) {
        for (const FeatureIndex max_features : {-1, 5}) {
          GrowthOptions options;
          options.max_features = max_features;
          if (best_first) {
            options.policy = GrowthPolicy::best_first;
            options.max_leaf_nodes = 200;
          }
          const Tree one = fit(problem, coded, weighted, measure, options, Context(1, 5));
          for (const int n_threads : kNumbersOfThreads) {
            const Tree many =
                fit(problem, coded, weighted, measure, options, Context(n_threads, 5));
            CHECK(same_bytes(one.arrays(), many.arrays()));
          }
        }
      }
    }
  }
}

TEST_CASE("best-first without a limit is the depth-first tree") {
  const Problem problem = make_problem(500, 4, 12);
  const BinnedDataset coded = code_table(problem.table(), Context());
  GrowthOptions best_first;
  best_first.policy = GrowthPolicy::best_first;
  for (const int measure : {0, 3, 4, 5}) {
    CHECK(same_bytes(fit(problem, coded, false, measure, {}, Context()).arrays(),
                     fit(problem, coded, false, measure, best_first, Context()).arrays()));
  }
}

TEST_CASE("the order of rows does not matter") {
  Problem problem = make_problem(400, 5, 13);
  const Tree tree = fit(problem, code_table(problem.table(), Context()), true, 3, {}, Context());
  for (auto& c : problem.columns) std::reverse(c.begin(), c.end());
  std::reverse(problem.y.begin(), problem.y.end());
  std::reverse(problem.weights.begin(), problem.weights.end());
  const Tree reversed =
      fit(problem, code_table(problem.table(), Context()), true, 3, {}, Context());
  CHECK(same_bytes(tree.arrays(), reversed.arrays()));
}

TEST_CASE("stopping rules hold in every leaf") {
  const Problem problem = make_problem(800, 6, 14);
  const BinnedDataset coded = code_table(problem.table(), Context());
  GrowthOptions options;
  options.max_depth = 5;
  options.min_samples_leaf = 13;
  options.min_samples_split = 60;
  double total = 0;
  for (const double w : problem.weights) total += w;
  options.min_weight_fraction_leaf = 20 / total;
  for (const int measure : {0, 1, 2, 3, 4, 5}) {
    const Tree tree = fit(problem, coded, true, measure, options, Context());
    CHECK(tree.depth() <= 5);
    CHECK(tree.n_leaves() > 4);
    for (NodeIndex node = 0; node < tree.n_nodes(); ++node) {
      const auto i = static_cast<std::size_t>(node);
      CHECK(tree.arrays().weight[i] >= 20 - 1e-9);
      CHECK(tree.arrays().n_node_samples[i] >= (tree.is_leaf(node) ? 13 : 60));
    }
  }
}

TEST_CASE("a leaf whose targets agree predicts exactly their value") {
  Problem problem = make_problem(300, 3, 15);
  for (std::size_t i = 0; i < 300; ++i) {
    problem.columns[0][i] = static_cast<double>(i);
    problem.y[i] = std::sin(static_cast<double>(i)) * 1e5;
  }
  const Tree tree = fit(problem, code_table(problem.table(), Context()), false, 3, {}, Context());
  std::vector<double> out(300);
  predict_tree(tree, problem.table(), Context(2), out);
  CHECK(out == problem.y);
}

TEST_CASE("a large common offset of the target changes no split") {
  Problem problem = make_problem(300, 4, 16);
  const BinnedDataset coded = code_table(problem.table(), Context());
  const Tree tree = fit(problem, coded, false, 3, {}, Context());
  for (auto& y : problem.y) y += 1e6;
  const Tree shifted = fit(problem, coded, false, 3, {}, Context());
  CHECK(tree.arrays().feature == shifted.arrays().feature);
  CHECK(tree.arrays().threshold == shifted.arrays().threshold);
}

TEST_CASE("huge and tiny targets give the tree of ordinary ones, best first too") {
  const Problem problem = make_problem(300, 4, 19);
  const BinnedDataset coded = code_table(problem.table(), Context());
  GrowthOptions options;
  options.policy = GrowthPolicy::best_first;
  options.max_leaf_nodes = 9;
  const Tree tree = fit(problem, coded, false, 3, options, Context());
  for (const int exponent : {-900, 900}) {
    Problem scaled = problem;
    for (auto& y : scaled.y) y = std::ldexp(y, exponent);
    const Tree other = fit(scaled, coded, false, 3, options, Context());
    CHECK(tree.arrays().threshold == other.arrays().threshold);
    CHECK(tree.impurity_decrease() == other.impurity_decrease());
  }
}

TEST_CASE("labels of pure noise do not make a chain under misclassification") {
  Problem problem = make_problem(2000, 5, 20);
  RandomStream random(20, Purpose::feature_subset, 1, 0);
  for (auto& k : problem.labels) k = random.below(5) == 0;
  const Tree tree = fit(problem, code_table(problem.table(), Context()), false, 2, {}, Context());
  CHECK(tree.depth() < 60);
}

TEST_CASE("drawn features do not end a tree early, whatever cannot be split elsewhere in it") {
  // Few distinct rows and labels without a pattern: many nodes of equal rows that cannot be split.
  RandomStream random(23, Purpose::feature_subset, 1, 0);
  Problem problem = make_problem(1500, 12, 23);
  for (auto& column : problem.columns) {
    for (auto& x : column) x = random.below(2);
  }
  for (auto& k : problem.labels) k = random.below(3);
  const BinnedDataset coded = code_table(problem.table(), Context());
  for (const bool at_random : {false, true}) {
    GrowthOptions options;
    options.max_features = 2;
    options.random_splits = at_random;
    const Tree tree = fit(problem, coded, false, 0, options, Context());
    std::map<NodeIndex, std::size_t> first_row;
    std::vector<NodeIndex> leaves(problem.labels.size());
    apply_tree(tree, problem.table(), Context(), leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const auto leaf = static_cast<std::size_t>(leaves[i]);
      if (tree.arrays().impurity[leaf] == 0.0) continue;
      const std::size_t j = first_row.emplace(leaves[i], i).first->second;
      for (const auto& column : problem.columns) REQUIRE(column[i] == column[j]);
    }
    CHECK(first_row.size() > 50);
  }
}

TEST_CASE("what cannot be learned from is refused") {
  const Problem problem = make_problem(10, 2, 17);
  const BinnedDataset coded = code_table(problem.table(), Context());
  CHECK_THROWS_AS(
      fit_classification_tree(coded, problem.labels, 2, {}, ClassMeasure::gini, {}, Context()),
      Error);
  CHECK_THROWS_AS(fit_classification_tree(coded, std::vector<std::uint32_t>(9), 3, {},
                                          ClassMeasure::gini, {}, Context()),
                  Error);
  std::vector<double> y(10, 1.0);
  y[3] = kNaN;
  CHECK_THROWS_AS(
      fit_regression_tree(coded, y, {}, RegressionMeasure::squared_error, {}, Context()), Error);
  CHECK_THROWS_AS(fit_regression_tree(code_table(TableView{0, {}}, Context()), {}, {},
                                      RegressionMeasure::squared_error, {}, Context()),
                  Error);
}

TEST_CASE("a stop flag ends the fit with an error of its own kind") {
  const Problem problem = make_problem(20000, 30, 18);
  const BinnedDataset coded = code_table(problem.table(), Context());
  try {
    fit(problem, coded, false, 0, {}, Context(2, 0, [] { return true; }));
    FAIL("not stopped");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::interrupted);
  }
}

}  // namespace arboleda
