#include "learn/adaboost.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "learn/booster.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

// Numbers, some missing; labels that depend on two columns, some of them wrong.
struct Problem {
  Problem(std::size_t n, std::uint32_t n_labels, std::uint64_t seed) : n_classes(n_labels) {
    RandomStream random(seed, Purpose::feature_subset, 0, 0);
    columns.assign(4, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        columns[j][i] = j == 2 ? random.below(5) : random.below(1u << 20) / 1024.0;
      }
      const double x = columns[0][i] + 100 * columns[2][i];
      labels.push_back(static_cast<std::uint32_t>(x / 1425 * n_classes) % n_classes);
      if (random.below(6) == 0) labels[i] = random.below(n_labels);
      if (random.below(9) == 0) columns[1][i] = std::numeric_limits<double>::quiet_NaN();
      weights.push_back(random.below(10) == 0 ? 0.0 : 0.5 + random.uniform());
    }
  }

  TableView view() const {
    TableView view{labels.size(), {}};
    for (const auto& c : columns) {
      view.columns.push_back(
          {reinterpret_cast<const std::byte*>(c.data()), sizeof(double), DType::float64});
    }
    return view;
  }

  std::size_t n_classes;
  std::vector<std::vector<double>> columns;
  std::vector<std::uint32_t> labels;
  std::vector<double> weights;
};

AdaBoosted fit(const Problem& problem, const AdaBoostOptions& options, bool weighted = false,
               int n_threads = 1) {
  const Context context(n_threads, 5);
  const BinnedDataset table = code_table(problem.view(), context);
  const std::span<const double> weights = problem.weights;
  return fit_adaboost(
      {table, problem.labels, problem.n_classes, weighted ? weights : weights.first(0)}, options,
      {}, context);
}

std::vector<double> scores(const AdaBoosted& boosted, const TableView& view, int n_threads = 1) {
  std::vector<double> weights;
  for (const AdaBoostRound& round : boosted.rounds) weights.push_back(round.weight);
  return member_scores(boosted.forest,
                       MemberVotes(boosted.forest, boosted.vote, weights, boosted.trees_a_round),
                       view, Context(n_threads));
}

double training_error(const AdaBoosted& boosted, const Problem& problem,
                      std::span<const double> weights) {
  const auto sums = scores(boosted, problem.view());
  double wrong = 0, whole = 0;
  for (std::size_t i = 0; i < problem.labels.size(); ++i) {
    const double* s = &sums[i * problem.n_classes];
    wrong += weights[i] * (std::max_element(s, s + problem.n_classes) - s != problem.labels[i]);
    whole += weights[i];
  }
  return wrong / whole;
}

// One round by the papers: e, a, Z and the new weights, from the shares of the row's leaf.
struct NaiveRound {
  double error = 0, weight = 1, normalizer = 0;
};

NaiveRound naive_round(const Problem& problem, AdaBoostAlgorithm algorithm, double rate,
                       const Tree& tree, std::vector<double>& d) {
  const std::size_t n = d.size();
  const auto k_all = static_cast<double>(problem.n_classes);
  std::vector<NodeIndex> leaf(n);
  for (std::size_t i = 0; i < n; ++i) {
    NodeIndex node = 0;
    while (!tree.is_leaf(node)) {
      node = tree.child(node, problem.columns[static_cast<std::size_t>(tree.feature(node))][i]);
    }
    leaf[i] = node;
  }
  NaiveRound round;
  std::vector<double> factor(n);
  std::vector<bool> wrong(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto p = tree.value(leaf[i]);
    wrong[i] = std::max_element(p.begin(), p.end()) - p.begin() != problem.labels[i];
    round.error += wrong[i] ? d[i] : 0;
  }
  const double e = round.error;
  for (std::size_t i = 0; i < n; ++i) {
    if (algorithm == AdaBoostAlgorithm::real) {  // SAMME.R as it is printed
      const auto p = tree.value(leaf[i]);
      double dot = 0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        dot += (k == problem.labels[i] ? 1 : -1 / (k_all - 1)) * std::log(std::max(p[k], 0x1p-52));
      }
      factor[i] = std::exp(-rate * (k_all - 1) / k_all * dot);
      round.weight = rate;
    } else if (algorithm == AdaBoostAlgorithm::samme) {  // only ratios matter
      round.weight = rate * (std::log((1 - e) / e) + std::log(k_all - 1));
      factor[i] = wrong[i] ? std::exp(round.weight) : 1;
    } else {
      const double a = rate * std::log((1 - e) / e) / 2;
      round.weight = algorithm == AdaBoostAlgorithm::m1 ? 2 * a : a;
      factor[i] = std::exp(wrong[i] ? a : -a);
    }
  }
  for (std::size_t i = 0; i < n; ++i) round.normalizer += d[i] * factor[i];
  for (std::size_t i = 0; i < n; ++i) {
    const double next = d[i] * factor[i] / round.normalizer;
    d[i] = d[i] > 0 ? std::max(next, 0x1p-52) : 0;  // no row is lost
  }
  return round;
}

const AdaBoostAlgorithm kAll[] = {AdaBoostAlgorithm::discrete, AdaBoostAlgorithm::m1,
                                  AdaBoostAlgorithm::samme, AdaBoostAlgorithm::real};

}  // namespace

TEST_SUITE("adaboost") {
  TEST_CASE("every round is that of the papers") {
    for (const AdaBoostAlgorithm algorithm : kAll) {
      for (const std::uint32_t n_classes : {2u, 4u}) {
        if (n_classes > 2 && algorithm == AdaBoostAlgorithm::discrete) continue;
        const bool multi = n_classes > 2;
        for (const double rate : {1.0, 0.3}) {
          CAPTURE(static_cast<int>(algorithm));
          CAPTURE(n_classes);
          CAPTURE(rate);
          const Problem problem(300, n_classes, 11);
          AdaBoostOptions options{
              .algorithm = algorithm,
              .n_rounds = 12,
              .learning_rate = rate,
              .growth = {.max_depth = !multi                                 ? 1
                                      : algorithm == AdaBoostAlgorithm::real ? 3
                                                                             : 5}};
          const AdaBoosted boosted = fit(problem, options, true);
          REQUIRE(boosted.rounds.size() == 12);
          std::vector<double> d = problem.weights;
          const double sum = std::accumulate(d.begin(), d.end(), 0.0);
          for (double& w : d) w /= sum;
          const Context context(1);
          const BinnedDataset table = code_table(problem.view(), context);
          for (std::size_t t = 0; t < boosted.rounds.size(); ++t) {
            const Tree tree = fit_classification_tree(table, problem.labels, n_classes, d,
                                                      ClassMeasure::gini, options.growth, context);
            const Tree grown = tree_of(boosted.forest, t);
            CHECK(grown.arrays().feature == tree.arrays().feature);
            CHECK(grown.arrays().threshold == tree.arrays().threshold);
            const NaiveRound round = naive_round(problem, algorithm, rate, tree, d);
            CHECK(boosted.rounds[t].error == doctest::Approx(round.error).epsilon(1e-9));
            CHECK(boosted.rounds[t].weight == doctest::Approx(round.weight).epsilon(1e-9));
            if (algorithm == AdaBoostAlgorithm::samme) continue;  // another scale, same weights
            CHECK(boosted.rounds[t].normalizer == doctest::Approx(round.normalizer).epsilon(1e-9));
          }
        }
      }
    }
  }

  TEST_CASE("the ten points of Schapire and Freund: errors, weights of votes, normalisers") {
    // Stumps that are wrong on {1,2,3}, {6,7,9}, {4,5,8}: a row's leaf decides its predicted class.
    const std::vector<std::uint32_t> labels(10, 1);
    const std::vector<double> start(10, 0.1);
    std::vector<RowIndex> rows(10);
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    const BinnedDataset table{10, {}};
    AdaBoostOptions options{.algorithm = AdaBoostAlgorithm::discrete};
    const Context context(1);
    const BoosterTask task{table, labels, 2, rows, start, options, context};
    const auto booster = make_booster(task);
    const std::vector<std::vector<int>> wrong{{1, 2, 3}, {6, 7, 9}, {4, 5, 8}};
    const double error[] = {0.30, 0.21, 0.14}, weight[] = {0.42, 0.65, 0.92},
                 normalizer[] = {0.92, 0.82, 0.69};
    std::vector<double> votes(10);
    for (std::size_t t = 0; t < 3; ++t) {
      MemberTree member;
      member.tree.right = {2, -1, -1};
      member.tree.value = {0.5, 0.5, 1.0, 0.0, 0.0, 1.0};
      member.leaf.assign(10, 2);
      for (const int i : wrong[t]) member.leaf[static_cast<std::size_t>(i - 1)] = 1;
      const MemberResult result = booster->evaluate({&member, 1});
      CHECK(std::abs(result.round.error - error[t]) < 0.005);
      CHECK(std::abs(result.round.weight - weight[t]) < 0.005);
      CHECK(std::abs(result.round.normalizer - normalizer[t]) < 0.005);
      CHECK(result.round.edge == 0.5 - result.round.error);
      for (std::size_t i = 0; i < 10; ++i) {
        votes[i] += (member.leaf[i] == 2 ? 1 : -1) * result.round.weight;
      }
      booster->reweigh({&member, 1}, result.round);
      // Under the new weights the member is right half the time; they sum to 1.
      double of_wrong = 0, whole = 0;
      for (std::size_t i = 0; i < 10; ++i) {
        whole += booster->row_weights()[i];
        if (member.leaf[i] == 1) of_wrong += booster->row_weights()[i];
      }
      CHECK(of_wrong == doctest::Approx(0.5).epsilon(1e-12));
      CHECK(whole == doctest::Approx(1.0).epsilon(1e-12));
      if (t == 0) CHECK(booster->row_weights()[0] == doctest::Approx(1.0 / 6));
      if (t == 0) CHECK(booster->row_weights()[9] == doctest::Approx(1.0 / 14));
    }
    for (const double vote : votes) CHECK(vote > 0.0);
  }

  TEST_CASE(
      "the product of all Z bounds the training error; of two classes it is that of 2 "
      "sqrt(e(1-e))") {
    const Problem problem(500, 2, 3);
    for (const AdaBoostAlgorithm algorithm : kAll) {
      const AdaBoosted boosted =
          fit(problem, {.algorithm = algorithm, .n_rounds = 30, .growth = {.max_depth = 1}}, true);
      double bound = 1.0;
      for (const AdaBoostRound& round : boosted.rounds) {
        if (algorithm != AdaBoostAlgorithm::real) {
          CHECK(round.normalizer ==
                doctest::Approx(2 * std::sqrt(round.error * (1 - round.error))).epsilon(1e-9));
        }
        bound *= round.normalizer;
      }
      CHECK(training_error(boosted, problem, problem.weights) <= bound);
    }
  }

  TEST_CASE("the same bits for any number of threads") {
    for (const std::int32_t depth : {1, 3}) {
      for (const AdaBoostAlgorithm algorithm :
           {AdaBoostAlgorithm::samme, AdaBoostAlgorithm::real}) {
        const Problem problem(40'000, 2, 8);
        const AdaBoostOptions options{.algorithm = algorithm,
                                      .n_rounds = 5,
                                      .growth = {.max_depth = depth},
                                      .weight_trimming = 0.05};
        const AdaBoosted one = fit(problem, options, true, 1);
        const auto expected = scores(one, problem.view(), 1);
        for (const int n_threads : {2, 8}) {
          const AdaBoosted many = fit(problem, options, true, n_threads);
          for (std::size_t t = 0; t < one.rounds.size(); ++t) {
            CHECK(many.rounds[t].error == one.rounds[t].error);
            CHECK(many.rounds[t].normalizer == one.rounds[t].normalizer);
            CHECK(many.forest.trees[t].value == one.forest.trees[t].value);
          }
          CHECK(scores(many, problem.view(), n_threads) == expected);
        }
      }
    }
  }

  TEST_CASE("a member without error ends the loop, or resets it") {
    Problem problem(60, 2, 1);
    for (std::size_t i = 0; i < 60; ++i) problem.labels[i] = problem.columns[0][i] > 500;
    AdaBoostOptions options{
        .algorithm = AdaBoostAlgorithm::discrete, .n_rounds = 4, .growth = {.max_depth = 1}};
    const AdaBoosted stopped = fit(problem, options);
    CHECK(stopped.end == AdaBoostEnd::perfect);
    REQUIRE(stopped.rounds.size() == 1);
    CHECK(stopped.rounds[0].error == 0.0);
    CHECK(std::isfinite(stopped.rounds[0].weight));
    options.algorithm = AdaBoostAlgorithm::samme;
    CHECK(fit(problem, options).rounds[0].weight == 1.0);
    options.on_degenerate = OnDegenerate::reset;
    const AdaBoosted reset = fit(problem, options);
    CHECK(reset.end == AdaBoostEnd::all_rounds);
    REQUIRE(reset.rounds.size() == 4);
    CHECK(!reset.rounds[0].reset_before);
    CHECK(reset.rounds[1].reset_before);
    CHECK(reset.rounds[0].weight == doctest::Approx(std::log((1 - 1e-10) / 1e-10)));
  }

  TEST_CASE("the last member without error outvotes all others") {
    // The first stumps err; then trimming leaves rows that one stump separates, but not all: so a
    // deeper tree is given a table that it learns by heart in the end.
    Problem problem(200, 2, 21);
    const AdaBoostOptions options{
        .algorithm = AdaBoostAlgorithm::m1, .n_rounds = 200, .growth = {.max_depth = 7}};
    const AdaBoosted boosted = fit(problem, options);
    REQUIRE(boosted.end == AdaBoostEnd::perfect);
    const std::vector<double> ones(200, 1.0);
    CHECK(training_error(boosted, problem, ones) == 0.0);
    double others = 0.0;
    for (std::size_t t = 0; t + 1 < boosted.rounds.size(); ++t) others += boosted.rounds[t].weight;
    CHECK(boosted.rounds.back().weight > others);
  }

  TEST_CASE("a member no better than guessing is not kept") {
    Problem problem(8, 2, 1);
    problem.columns = {{0, 0, 1, 1, 0, 0, 1, 1}, {0, 1, 0, 1, 0, 1, 0, 1}};
    problem.labels = {0, 1, 1, 0, 0, 1, 1, 0};
    problem.weights.resize(8);
    for (const AdaBoostAlgorithm algorithm : kAll) {
      AdaBoostOptions options{.algorithm = algorithm, .n_rounds = 3, .growth = {.max_depth = 1}};
      const AdaBoosted none = fit(problem, options);
      CHECK(none.end == AdaBoostEnd::too_weak);
      CHECK(none.rounds.empty());
      CHECK(none.forest.trees.empty());
      CHECK(none.weak_error == doctest::Approx(0.5));
      // A bootstrap sample is not balanced: there is something to learn.
      options.on_degenerate = OnDegenerate::reset;
      const AdaBoosted reset = fit(problem, options);
      REQUIRE(!reset.rounds.empty());
      CHECK(reset.rounds[0].reset_before);
    }
  }

  TEST_CASE("trimmed rows are reweighed, but no tree sees them") {
    const Problem problem(400, 2, 9);
    const AdaBoostOptions all{
        .algorithm = AdaBoostAlgorithm::real, .n_rounds = 40, .growth = {.max_depth = 2}};
    AdaBoostOptions some = all;
    some.weight_trimming = 0.3;
    const AdaBoosted trimmed = fit(problem, some);
    REQUIRE(trimmed.rounds.size() == 40);
    std::uint32_t fewest = 400;
    for (const CompactTree& tree : trimmed.forest.trees) {
      fewest = std::min(fewest, std::accumulate(tree.n_rows.begin(), tree.n_rows.end(), 0u));
    }
    CHECK(fewest < 300);
    some.weight_trimming = 0.0;
    CHECK(fit(problem, some).rounds[39].error == fit(problem, all).rounds[39].error);
  }

  TEST_CASE("validation rows take no part; their scores are the model's; a callback stops") {
    const Problem problem(400, 3, 6);
    const Context context(2);
    const BinnedDataset table = code_table(problem.view(), context);
    std::vector<RowIndex> rows;
    std::vector<double> weights(400, 1.0);
    for (RowIndex row = 3; row < 400; row += 4) {
      rows.push_back(row);
      weights[row] = 0.0;
    }
    for (const AdaBoostAlgorithm algorithm : {AdaBoostAlgorithm::m1, AdaBoostAlgorithm::real}) {
      const AdaBoostOptions options{
          .algorithm = algorithm, .n_rounds = 9, .growth = {.max_depth = 3}};
      std::vector<double> last;
      const AdaBoosted boosted = fit_adaboost(
          {table, problem.labels, 3, {}, rows}, options,
          [&](const AdaBoostProgress& progress) {
            last.assign(progress.validation_scores.begin(), progress.validation_scores.end());
            return progress.n_rounds == 7;
          },
          context);
      CHECK(boosted.end == AdaBoostEnd::stopped);
      REQUIRE(boosted.rounds.size() == 7);
      const auto sums = scores(boosted, problem.view());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t k = 0; k < 3; ++k) CHECK(last[i * 3 + k] == sums[rows[i] * 3 + k]);
      }
      const AdaBoosted without =
          fit_adaboost({table, problem.labels, 3, weights}, options, {}, context);
      for (std::size_t t = 0; t < 7; ++t) {
        CHECK(without.rounds[t].error == boosted.rounds[t].error);
      }
    }
  }

  TEST_CASE("what cannot be boosted is refused") {
    const Problem problem(20, 3, 2);
    CHECK_THROWS_AS(fit(problem, {.algorithm = AdaBoostAlgorithm::discrete}), Error);
    CHECK_THROWS_AS(fit(problem, {.n_rounds = 0}), Error);
    CHECK_THROWS_AS(fit(problem, {.learning_rate = 0.0}), Error);
    CHECK_THROWS_AS(fit(problem, {.weight_trimming = 1.0}), Error);
    Problem weightless = problem;
    weightless.weights.assign(20, 0.0);
    CHECK_THROWS_AS(fit(weightless, {}, true), Error);
  }
}

}  // namespace arboleda
