#include "learn/label_trees.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "base/random.h"
#include "predict/predict.h"

namespace arboleda {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmoothing = 1e-4;  // of the whole weight

using Rows = std::vector<std::size_t>;

// Columns of few and of many values and with gaps, labels that depend on two of them, weights that no
// number measures.
struct Problem {
  std::vector<std::vector<double>> columns{4};
  std::vector<std::uint32_t> labels;
  std::vector<double> weights;  // rows x classes; all 0 in some rows
  std::size_t n, n_classes;

  // ranking: the row's own class weighs nothing.
  Problem(std::size_t n_rows, std::size_t n_of_classes, bool ranking, std::uint64_t seed)
      : n(n_rows), n_classes(n_of_classes) {
    RandomStream random(seed, Purpose::feature_subset, 0, 0);
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      columns[0].push_back(random.below(5));
      columns[1].push_back(random.below(1000) * 0.37);
      columns[2].push_back(random.below(5) == 0 ? kNaN : random.below(300) * 0.11);
      columns[3].push_back(random.below(7));
      const double signal = columns[0][i] + columns[1][i] / 200 + columns[3][i] / 3;
      labels.push_back(static_cast<std::uint32_t>(signal) % static_cast<std::uint32_t>(n_classes));
      const bool dropped = random.below(9) == 0;
      for (std::size_t k = 0; k < n_classes; ++k) {
        const double w = (1 + random.below(1000)) / 997.0;
        weights.push_back(dropped || (ranking && k == labels[i]) ? 0.0 : w);
        sum += weights.back();
      }
    }
    for (double& w : weights) w /= sum;
  }

  double weight(std::size_t i, std::size_t k) const { return weights[i * n_classes + k]; }

  TableView view() const {
    TableView table{n, {}};
    for (const auto& c : columns) {
      table.columns.push_back(
          {reinterpret_cast<const std::byte*>(c.data()), sizeof(double), DType::float64});
    }
    return table;
  }
};

// sum_k sqrt(W+_k W-_k)
double naive_root_sum(const Problem& problem, const Rows& rows) {
  double sum = 0.0;
  for (std::size_t k = 0; k < problem.n_classes; ++k) {
    double plus = 0.0, minus = 0.0;
    for (const auto i : rows) (problem.labels[i] == k ? plus : minus) += problem.weight(i, k);
    sum += std::sqrt(plus * minus);
  }
  return sum;
}

// pi_k
std::vector<double> naive_pi(const Problem& problem, const Rows& rows) {
  std::vector<double> pi(problem.n_classes);
  for (const auto i : rows) {
    for (std::size_t k = 0; k < problem.n_classes; ++k) {
      pi[problem.labels[i]] += problem.weight(i, k);
      pi[k] -= problem.weight(i, k);
    }
  }
  return pi;
}

// The larger, the better: first by the first, then by the second.
using Score = std::pair<double, double>;

Score naive_score(const Problem& problem, const Rows& left, const Rows& right, bool ranking) {
  if (!ranking) return {-naive_root_sum(problem, left) - naive_root_sum(problem, right), 0.0};
  Score score{0.0, 0.0};
  for (const Rows* rows : {&left, &right}) {
    for (const double pi : naive_pi(problem, *rows)) {
      score.first += std::abs(pi);
      score.second += pi * pi;
    }
  }
  return score;
}

// With differences below any that these weights make, unless two splits are the same to the criterion.
bool is_better(const Score& a, const Score& b) {
  constexpr double kSame = 1e-12;
  if (std::abs(a.first - b.first) > kSame) return a.first > b.first;
  return a.second > b.second + kSame;
}

double whole(const Problem& problem, const Rows& rows) {
  double sum = 0.0;
  for (const auto i : rows) {
    for (std::size_t k = 0; k < problem.n_classes; ++k) sum += problem.weight(i, k);
  }
  return sum;
}

std::vector<Rows> rows_of_nodes(const Problem& problem, const Tree& tree) {
  std::vector<Rows> rows(static_cast<std::size_t>(tree.n_nodes()));
  const DecisionPath path = decision_path(tree, problem.view(), Context());
  for (std::size_t i = 0; i < problem.n; ++i) {
    if (whole(problem, {i}) == 0.0) continue;
    for (auto s = path.start[i]; s < path.start[i + 1]; ++s) {
      rows[static_cast<std::size_t>(path.node[static_cast<std::size_t>(s)])].push_back(i);
    }
  }
  return rows;
}

Score best_of_all(const Problem& problem, const Rows& rows, bool ranking) {
  Score best{-std::numeric_limits<double>::infinity(), 0.0};
  for (const auto& x : problem.columns) {
    for (const auto at : rows) {
      if (std::isnan(x[at])) continue;
      for (const bool missing_left : {false, true}) {
        Rows left, right;
        for (const auto i : rows) {
          ((std::isnan(x[i]) ? missing_left : x[i] <= x[at]) ? left : right).push_back(i);
        }
        if (left.empty() || right.empty()) continue;
        const Score score = naive_score(problem, left, right, ranking);
        if (is_better(score, best)) best = score;
      }
    }
  }
  return best;
}

Tree grow(const Problem& problem, const BinnedDataset& table, bool ranking,
          const GrowthOptions& options, const Context& context) {
  LabelWeights weights;
  fix_label_weights(problem.weights, problem.n_classes, {}, weights);
  const LabelTask task{table, problem.labels, weights, options, context};
  return Tree(ranking ? grow_ranking_tree(task, -1.0)
                      : grow_hamming_tree(task, kSmoothing * weights.total));
}

void check_leaf(const Problem& problem, const Rows& rows, std::span<const double> value,
                bool ranking) {
  if (ranking) {
    const std::vector<double> pi = naive_pi(problem, rows);
    for (std::size_t k = 0; k < pi.size(); ++k) {
      if (std::abs(pi[k]) > 1e-12) CHECK(value[k] == (pi[k] > 0 ? 1.0 : -1.0));
    }
    return;
  }
  for (std::size_t k = 0; k < problem.n_classes; ++k) {
    double plus = kSmoothing, minus = kSmoothing;
    for (const auto i : rows) (problem.labels[i] == k ? plus : minus) += problem.weight(i, k);
    CHECK(value[k] == doctest::Approx(std::log(plus / minus) / 2).epsilon(1e-9));
  }
}

void check_tree(const Problem& problem, const Tree& tree, bool ranking) {
  const TreeArrays& a = tree.arrays();
  const std::vector<Rows> rows = rows_of_nodes(problem, tree);
  for (std::size_t node = 0; node < rows.size(); ++node) {
    const double w = whole(problem, rows[node]);
    CHECK(static_cast<std::size_t>(a.n_node_samples[node]) == rows[node].size());
    CHECK(a.weight[node] == doctest::Approx(w).epsilon(1e-9));
    const double impurity = ranking ? 1 - naive_score(problem, rows[node], {}, true).first / (2 * w)
                                    : 2 * naive_root_sum(problem, rows[node]) / w;
    CHECK(a.impurity[node] == doctest::Approx(impurity).epsilon(1e-9));
    check_leaf(problem, rows[node], tree.value(static_cast<NodeIndex>(node)), ranking);
    if (a.right[node] < 0) {
      CHECK(a.impurity[node] == 0.0);  // grown without a limit
      continue;
    }
    const Score best = best_of_all(problem, rows[node], ranking);
    const Score ours = naive_score(problem, rows[node + 1],
                                   rows[static_cast<std::size_t>(a.right[node])], ranking);
    CHECK_FALSE(is_better(best, ours));
  }
}

bool same_tree(const Tree& a, const Tree& b) {
  return a.arrays().feature == b.arrays().feature && a.arrays().threshold == b.arrays().threshold &&
         a.arrays().missing_left == b.arrays().missing_left &&
         a.arrays().right == b.arrays().right && a.arrays().value == b.arrays().value &&
         a.arrays().impurity == b.arrays().impurity && a.arrays().weight == b.arrays().weight;
}

}  // namespace

TEST_CASE(
    "trees on weights of labels: every split is the best of all, leaf values are those of the "
    "papers") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    for (const std::size_t n_classes : {2u, 3u, 7u}) {
      for (const bool ranking : {false, true}) {
        CAPTURE(seed);
        CAPTURE(n_classes);
        CAPTURE(ranking);
        const Problem problem(60, n_classes, ranking, seed);
        const BinnedDataset table = code_table(problem.view(), Context());
        check_tree(problem, grow(problem, table, ranking, {}, Context()), ranking);
      }
    }
  }
}

TEST_CASE("trees on weights of labels: the same with any number of threads") {
  for (const bool ranking : {false, true}) {
    const Problem problem(20000, 5, ranking, 9);
    const BinnedDataset table = code_table(problem.view(), Context());
    GrowthOptions options;
    options.max_depth = 6;
    const Tree one = grow(problem, table, ranking, options, Context());
    CHECK(one.n_nodes() > 20);
    for (const int n_threads : {2, 3}) {
      const Context context(n_threads, 0);
      CHECK(same_tree(one, grow(problem, table, ranking, options, context)));
    }
  }
}

TEST_CASE("trees on weights of labels: categories of two classes are parted as well as can be") {
  constexpr std::uint32_t kCategories = 7;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    for (const bool ranking : {false, true}) {
      const Problem problem(50, 2, ranking, seed);
      std::map<std::size_t, Rows> of_category;
      Problem one_column = problem;
      one_column.columns = {problem.columns[3]};
      const std::vector<std::uint32_t> levels{kCategories};
      const BinnedDataset table =
          code_table(one_column.view(), Context(), {.n_categories = levels});
      GrowthOptions options;
      options.max_depth = 1;
      const Tree tree = grow(one_column, table, ranking, options, Context());
      REQUIRE(tree.n_nodes() == 3);
      const std::vector<Rows> rows = rows_of_nodes(one_column, tree);
      Score best{-std::numeric_limits<double>::infinity(), 0.0};
      for (std::uint32_t subset = 1; subset + 1 < 1u << kCategories; ++subset) {
        Rows left, right;
        for (const auto i : rows[0]) {
          const auto category = static_cast<std::uint32_t>(problem.columns[3][i]);
          ((subset >> category & 1u) != 0 ? left : right).push_back(i);
        }
        if (left.empty() || right.empty()) continue;
        const Score score{naive_score(problem, left, right, ranking).first, 0.0};
        if (is_better(score, best)) best = score;
      }
      const Score ours{naive_score(problem, rows[1], rows[2], ranking).first, 0.0};
      CHECK_FALSE(is_better(best, ours));
    }
  }
}

TEST_CASE("rows that sit out of a round weigh nothing") {
  const Problem problem(40, 3, true, 5);
  std::vector<std::uint8_t> sits_out(problem.n);
  for (std::size_t i = 0; i < problem.n; i += 2) sits_out[i] = 1;
  LabelWeights fixed;
  fix_label_weights(problem.weights, 3, sits_out, fixed);
  double total = 0.0;
  for (std::size_t i = 0; i < problem.n; ++i) {
    CHECK(fixed.dropped[i] == (i % 2 == 0 || whole(problem, {i}) == 0.0));
    const double row = fixed.row[i] * fixed.unit;
    CHECK(row == doctest::Approx(i % 2 == 0 ? 0.0 : whole(problem, {i})).epsilon(1e-12));
    total += fixed.row[i];
  }
  CHECK(total == fixed.total);
  const std::vector<double> none(problem.weights.size());
  CHECK_THROWS_AS(fix_label_weights(none, 3, {}, fixed), Error);
}

}  // namespace arboleda
