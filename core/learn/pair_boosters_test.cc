// Rounds by hand, and what all algorithms that weigh pairs or fit regressions promise.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "learn/adaboost.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

constexpr AdaBoostAlgorithm kAlgorithms[] = {AdaBoostAlgorithm::m2, AdaBoostAlgorithm::mr,
                                             AdaBoostAlgorithm::mh, AdaBoostAlgorithm::gentle,
                                             AdaBoostAlgorithm::logit};

AdaBoostOptions options_of(AdaBoostAlgorithm algorithm, std::uint32_t n_rounds, int max_depth) {
  AdaBoostOptions options;
  options.algorithm = algorithm;
  options.n_rounds = n_rounds;
  options.growth.max_depth = max_depth;
  return options;
}

// Rows of the values 0, 1, .. and the classes 0, 1, ..
AdaBoosted boost_diagonal(std::size_t n_classes, AdaBoostAlgorithm algorithm,
                          std::uint32_t n_rounds) {
  std::vector<double> x;
  std::vector<std::uint32_t> labels;
  for (std::uint32_t k = 0; k < n_classes; ++k) {
    x.push_back(k);
    labels.push_back(k);
  }
  TableView view{n_classes, {}};
  view.columns.push_back(
      {reinterpret_cast<const std::byte*>(x.data()), sizeof(double), DType::float64});
  const BinnedDataset table = code_table(view, Context());
  return fit_adaboost({table, labels, n_classes, {}}, options_of(algorithm, n_rounds, 1), nullptr,
                      Context());
}

void check_leaves(const Forest& forest, std::size_t tree, const std::vector<double>& expected) {
  std::vector<double> leaves;
  const Tree grown = tree_of(forest, tree);
  for (NodeIndex node = 0; node < grown.n_nodes(); ++node) {
    if (!grown.is_leaf(node)) continue;
    leaves.insert(leaves.end(), grown.value(node).begin(), grown.value(node).end());
  }
  REQUIRE(leaves.size() == expected.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    CHECK(leaves[i] == doctest::Approx(expected[i]).epsilon(1e-12));
  }
}

}  // namespace

// Three rows, six pairs of 1/6. The stump parts row 0 from the others: four pairs ranked rightly, the
// two between rows 1 and 2 tied.
TEST_CASE("AdaBoost.M2 by hand") {
  const AdaBoosted boosted = boost_diagonal(3, AdaBoostAlgorithm::m2, 2);
  REQUIRE(boosted.rounds.size() == 2);
  check_leaves(boosted.forest, 0, {1, 0, 0, 0, 1, 1});
  CHECK(boosted.rounds[0].error == doctest::Approx(1.0 / 6));
  CHECK(boosted.rounds[0].weight == doctest::Approx(std::log(5.0)));
  const double z = 2.0 / 3 / std::sqrt(5.0) + 1.0 / 3;
  CHECK(boosted.rounds[0].normalizer == doctest::Approx(z));
  // The pairs that were tied weigh 1/6 / Z now, the others 1/6 / sqrt(5) / Z. The next stump parts row 2
  // from the others: those of rows 0 and 1 are tied.
  check_leaves(boosted.forest, 1, {1, 1, 0, 0, 0, 1});
  CHECK(boosted.rounds[1].error == doctest::Approx(1.0 / 6 / std::sqrt(5.0) / z));
}

TEST_CASE("AdaBoost.MR by hand: no pair is ranked wrongly, so the weight is the largest there is") {
  const AdaBoosted boosted = boost_diagonal(3, AdaBoostAlgorithm::mr, 1);
  check_leaves(boosted.forest, 0, {1, -1, -1, -1, 1, 1});
  CHECK(boosted.rounds[0].error == doctest::Approx(1.0 / 6));
  CHECK(boosted.rounds[0].weight == doctest::Approx(0.5 * std::log((1 - 1e-10) / 1e-10)));
  CHECK(boosted.rounds[0].normalizer == doctest::Approx(1.0 / 3 + 2.0 / 3 * 1e-5).epsilon(1e-9));
}

// Nine pairs of 1/9, which is also eps.
TEST_CASE("AdaBoost.MH by hand") {
  const AdaBoosted boosted = boost_diagonal(3, AdaBoostAlgorithm::mh, 1);
  const double two = std::log(2.0) / 2, three = std::log(3.0) / 2;
  check_leaves(boosted.forest, 0, {two, -two, -two, -three, 0, 0});
  CHECK(boosted.rounds[0].error == doctest::Approx(2.0 / 9));
  CHECK(boosted.rounds[0].weight == 1.0);
  CHECK(boosted.rounds[0].normalizer ==
        doctest::Approx((3 / std::sqrt(2.0) + 2 / std::sqrt(3.0) + 4) / 9));
}

TEST_CASE("gentle and logit boosting by hand") {
  const AdaBoosted gentle = boost_diagonal(2, AdaBoostAlgorithm::gentle, 2);
  check_leaves(gentle.forest, 0, {-1, 1});
  CHECK(gentle.trees_a_round == 1);
  CHECK(gentle.rounds[1].error == 0.0);
  CHECK(gentle.rounds[1].normalizer == doctest::Approx(std::exp(-1.0)));
  // p = 1/2: z = -2 and 2. F becomes -1 and 1, where z is -+(1 + exp -2).
  const AdaBoosted logit = boost_diagonal(2, AdaBoostAlgorithm::logit, 2);
  check_leaves(logit.forest, 0, {-2, 2});
  CHECK(logit.rounds[0].weight == 0.5);
  CHECK(logit.rounds[0].normalizer ==
        doctest::Approx(std::log1p(std::exp(-2.0)) / std::log(2.0)).epsilon(1e-12));
  check_leaves(logit.forest, 1, {-1 - std::exp(-2.0), 1 + std::exp(-2.0)});
  const AdaBoosted three = boost_diagonal(3, AdaBoostAlgorithm::logit, 1);
  CHECK(three.trees_a_round == 3);
  CHECK(three.rounds[0].weight == doctest::Approx(2.0 / 3));
  check_leaves(three.forest, 0, {3, -1.5});
}

TEST_CASE("rounds by pairs and regressions: the same on any number of threads, of mixed columns") {
  const MixedProblem problem(6000);
  const std::span<const std::uint32_t> labels = std::span(problem.labels).first(problem.n);
  const BinnedDataset table = problem.mixed(Context());
  const std::vector<RowIndex> validation{1, 5, 17, 4000};
  for (const auto algorithm : kAlgorithms) {
    CAPTURE(static_cast<int>(algorithm));
    AdaBoostOptions options = options_of(algorithm, 5, 4);
    options.weight_trimming = 0.02;
    options.growth.max_features = 3;
    const auto fit = [&](int n_threads, std::vector<double>& scores) {
      const auto keep = [&](const AdaBoostProgress& progress) {
        scores.assign(progress.validation_scores.begin(), progress.validation_scores.end());
        return false;
      };
      return fit_adaboost({table, labels, 3, problem.weights, validation}, options, keep,
                          Context(n_threads, 3));
    };
    std::vector<double> scores, others;
    const AdaBoosted one = fit(1, scores);
    CHECK(one.rounds.back().error < 0.5);
    double product = 1.0;
    for (const AdaBoostRound& round : one.rounds) product *= round.normalizer;
    CHECK(product < 0.9);
    for (const int n_threads : {2, 3}) {
      const AdaBoosted same = fit(n_threads, others);
      CHECK(others == scores);
      for (std::size_t t = 0; t < one.rounds.size(); ++t) {
        CHECK(one.rounds[t].error == same.rounds[t].error);
        CHECK(one.rounds[t].normalizer == same.rounds[t].normalizer);
      }
      for (std::size_t t = 0; t < one.forest.trees.size(); ++t) {
        CHECK(one.forest.trees[t].value == same.forest.trees[t].value);
      }
    }
  }
}

}  // namespace arboleda
