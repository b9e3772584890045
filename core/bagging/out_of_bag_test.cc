#include "bagging/out_of_bag.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "learn/forest.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

constexpr std::uint64_t kSeed = 23;

// A forest of some kind of target, and its left-out rows by the textbook: every row walks every tree
// that did not see it, one by one.
struct Fitted {
  MixedProblem problem;
  bool classes;
  std::size_t n_outputs;
  bool weighted;
  std::vector<std::size_t> n_classes;
  ForestOptions options;
  BinnedDataset table;
  Forest forest;

  Fitted(std::size_t n, bool is_classes, std::size_t outputs, bool is_weighted,
         std::size_t n_trees = 9)
      : problem(n),
        classes(is_classes),
        n_outputs(outputs),
        weighted(is_weighted),
        table(problem.mixed(Context())) {
    options.n_trees = static_cast<std::uint32_t>(n_trees);
    options.growth.max_features = 2;
    options.growth.max_depth = 8;
    const Context context(2, kSeed);
    if (classes) {
      n_classes = {3, 2};
      n_classes.resize(n_outputs);
      forest = fit_classification_forest(table, labels(), n_classes, weights(), ClassMeasure::gini,
                                         options, {}, context);
    } else {
      forest = fit_regression_forest(table, values(), n_outputs, weights(),
                                     RegressionMeasure::squared_error, options, {}, context);
    }
  }

  std::span<const std::uint32_t> labels() const {
    return std::span(problem.labels).first(problem.n * n_outputs);
  }
  std::span<const double> values() const {
    return std::span(problem.y).first(problem.n * n_outputs);
  }
  std::span<const double> weights() const {
    return weighted ? std::span<const double>(problem.weights) : std::span<const double>();
  }
  BagDraw bags() const { return BagDraw(options.bag, {problem.n, weights()}, kSeed); }
  OutOfBagTarget target() const {
    OutOfBagTarget target;
    if (classes) {
      target.labels = labels();
      target.n_classes = n_classes;
    } else {
      target.values = values();
    }
    return target;
  }
  TableView view() const { return problem.dense_view(MixedProblem::kDense); }
  Ballot ballot(Voting voting) const { return Ballot(forest, voting, n_classes); }

  std::vector<RowIndex> left_out(std::size_t tree) const {
    std::vector<std::uint32_t> counts;
    bags().counts(static_cast<std::uint32_t>(tree), counts);
    std::vector<RowIndex> rows;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) rows.push_back(static_cast<RowIndex>(i));
    }
    return rows;
  }
  bool is_scored(RowIndex row) const { return !weighted || problem.weights[row] > 0; }

  // Where a row of these values ends.
  NodeIndex leaf(std::size_t tree, const std::vector<double>& x) const {
    const CompactTree& t = forest.trees[tree];
    NodeIndex node = 0;
    while (!t.nodes[static_cast<std::size_t>(node)].is_leaf()) {
      const auto j = t.nodes[static_cast<std::size_t>(node)].feature();
      node = t.child(node, x[static_cast<std::size_t>(j)]);
    }
    return node;
  }
  std::vector<double> row_of(RowIndex row) const {
    std::vector<double> x;
    for (std::size_t j = 0; j < MixedProblem::kDense; ++j) x.push_back(view().at(row, j));
    return x;
  }

  double error(RowIndex row, const double* votes, double n) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_outputs; ++k) {
      if (classes) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < n_classes[k]; ++c) {
          if (votes[c] > votes[best]) best = c;
        }
        sum += best != problem.labels[k * problem.n + row];
        votes += n_classes[k];
      } else {
        sum += std::pow(votes[k] / n - problem.y[k * problem.n + row], 2);
      }
    }
    return sum / static_cast<double>(n_outputs);
  }
};

std::vector<Fitted> all_kinds(std::size_t n) {
  std::vector<Fitted> all;
  for (const bool classes : {true, false}) {
    for (const std::size_t n_outputs : {1u, 2u}) {
      all.emplace_back(n, classes, n_outputs, n_outputs == 2);
    }
  }
  return all;
}

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

TEST_CASE("votes and curve are those of the trees that did not see the row") {
  for (const Fitted& fitted : all_kinds(300)) {
    for (const Voting voting : {Voting::soft, Voting::hard, Voting::laplace}) {
      if (!fitted.classes && voting != Voting::soft) continue;
      const auto votes = out_of_bag_votes(fitted.forest, fitted.ballot(voting), fitted.view(),
                                          {fitted.bags()}, Context(2));
      const auto curve = out_of_bag_curve(fitted.forest, fitted.ballot(voting), fitted.view(),
                                          {fitted.bags()}, fitted.target(), Context(2));
      const auto k = static_cast<std::size_t>(fitted.forest.n_outputs);
      std::vector<double> sums(300 * k);
      std::vector<std::uint32_t> n_trees(300);
      for (std::size_t t = 0; t < fitted.forest.trees.size(); ++t) {
        for (const RowIndex row : fitted.left_out(t)) {
          const auto leaf = static_cast<std::uint32_t>(fitted.leaf(t, fitted.row_of(row)));
          fitted.ballot(voting).add(fitted.forest.trees[t], leaf, &sums[row * k]);
          ++n_trees[row];
        }
        double error = 0.0;
        std::uint64_t n_scored = 0;
        for (RowIndex row = 0; row < 300; ++row) {
          if (n_trees[row] == 0 || !fitted.is_scored(row)) continue;
          error += fitted.error(row, &sums[row * k], n_trees[row]);
          ++n_scored;
        }
        REQUIRE(curve.n_scored[t] == n_scored);
        CHECK(curve.error[t] == doctest::Approx(error / static_cast<double>(n_scored)));
      }
      CHECK(votes.sums == sums);
      CHECK(votes.n_trees == n_trees);
    }
  }
}

TEST_CASE("permutation: the increase is that of walking every left-out row again") {
  for (const Fitted& fitted : all_kinds(250)) {
    const auto increases = out_of_bag_permutation(fitted.forest, fitted.view(), {fitted.bags()},
                                                  fitted.target(), Context(2, kSeed));
    const std::size_t p = MixedProblem::kDense;
    for (std::size_t t = 0; t < fitted.forest.trees.size(); ++t) {
      std::vector<RowIndex> rows = fitted.left_out(t);
      std::erase_if(rows, [&](RowIndex row) { return !fitted.is_scored(row); });
      const auto k = static_cast<std::size_t>(fitted.forest.n_outputs);
      const auto error = [&](RowIndex row, const std::vector<double>& x) {
        return fitted.error(
            row,
            fitted.forest.trees[t].leaf_value(fitted.leaf(t, x), k, fitted.forest.measure).data(),
            1.0);
      };
      for (std::size_t j = 0; j < p; ++j) {
        std::vector<RowIndex> from = rows;
        RandomStream random(kSeed, Purpose::permuted_column, static_cast<std::uint32_t>(t), j);
        for (std::size_t i = from.size(); i > 1; --i) {
          std::swap(from[i - 1], from[random.below(static_cast<std::uint32_t>(i))]);
        }
        double sum = 0.0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          std::vector<double> x = fitted.row_of(rows[i]);
          const double before = error(rows[i], x);
          x[j] = fitted.view().at(from[i], j);
          sum += error(rows[i], x) - before;
        }
        REQUIRE(increases[t * p + j] ==
                doctest::Approx(sum / static_cast<double>(rows.size())).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("threads change nothing") {
  // More rows than one block.
  const Fitted fitted(9000, false, 1, true, 5);
  const auto predictions = [&](int n_threads) {
    const Context context(n_threads, kSeed);
    auto all = out_of_bag_votes(fitted.forest, fitted.ballot(Voting::soft), fitted.view(),
                                {fitted.bags()}, context)
                   .sums;
    const auto curve = out_of_bag_curve(fitted.forest, fitted.ballot(Voting::soft), fitted.view(),
                                        {fitted.bags()}, fitted.target(), context);
    all.insert(all.end(), curve.error.begin(), curve.error.end());
    const auto increases = out_of_bag_permutation(fitted.forest, fitted.view(), {fitted.bags()},
                                                  fitted.target(), context);
    all.insert(all.end(), increases.begin(), increases.end());
    return all;
  };
  const auto one = predictions(1);
  for (const int n_threads : {2, 3, 8}) CHECK(same_numbers(one, predictions(n_threads)));
}

TEST_CASE("the later trees of a forest are evaluated on the rows that they left out") {
  const Fitted fitted(200, true, 1, true);
  Forest later = fitted.forest;
  later.trees.erase(later.trees.begin(), later.trees.begin() + 4);
  const Context context(2, kSeed);
  const auto all = out_of_bag_permutation(fitted.forest, fitted.view(), {fitted.bags()},
                                          fitted.target(), context);
  const auto some =
      out_of_bag_permutation(later, fitted.view(), {fitted.bags(), 4}, fitted.target(), context);
  CHECK(same_numbers({all.begin() + 4 * MixedProblem::kDense, all.end()}, some));
  auto votes = [&](const Forest& forest, std::uint32_t first_tree) {
    return out_of_bag_votes(forest, fitted.ballot(Voting::hard), fitted.view(),
                            {fitted.bags(), first_tree}, context)
        .sums;
  };
  auto together = votes(truncated(fitted.forest, 4), 0);
  const auto of_later = votes(later, 4);
  for (std::size_t i = 0; i < together.size(); ++i) together[i] += of_later[i];
  CHECK(together == votes(fitted.forest, 0));
}

TEST_CASE("where every row was seen no row is scored") {
  Fitted fitted(100, true, 1, false);
  fitted.options.bag.kind = BagKind::all;
  const auto votes = out_of_bag_votes(fitted.forest, fitted.ballot(Voting::soft), fitted.view(),
                                      {fitted.bags()}, Context());
  CHECK(std::ranges::count(votes.n_trees, 0U) == 100);
  const auto curve = out_of_bag_curve(fitted.forest, fitted.ballot(Voting::soft), fitted.view(),
                                      {fitted.bags()}, fitted.target(), Context());
  CHECK(std::ranges::all_of(curve.error, [](double e) { return std::isnan(e); }));
  CHECK(std::ranges::count(curve.n_scored, std::uint64_t{0}) == 9);
  const auto increases = out_of_bag_permutation(fitted.forest, fitted.view(), {fitted.bags()},
                                                fitted.target(), Context());
  CHECK(std::ranges::all_of(increases, [](double e) { return std::isnan(e); }));
}

TEST_CASE("tables, targets and classes that are not those of the fit are refused") {
  const Fitted fitted(60, true, 1, false);
  const MixedProblem other(61);
  CHECK_THROWS_AS(out_of_bag_votes(fitted.forest, fitted.ballot(Voting::soft), other.dense_view(4),
                                   {fitted.bags()}, Context()),
                  Error);
  CHECK_THROWS_AS(out_of_bag_permutation(fitted.forest, fitted.problem.dense_view(3),
                                         {fitted.bags()}, fitted.target(), Context()),
                  Error);
  OutOfBagTarget target = fitted.target();
  target.labels = target.labels.first(59);
  CHECK_THROWS_AS(
      out_of_bag_permutation(fitted.forest, fitted.view(), {fitted.bags()}, target, Context()),
      Error);
}

}  // namespace arboleda
