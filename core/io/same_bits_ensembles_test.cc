// As in same_bits_test.cc, of ensembles: boosting by each loss, forests, AdaBoost by each algorithm.

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "io/checksum.h"
#include "io/model_file.h"
#include "learn/adaboost.h"
#include "learn/boosting.h"
#include "learn/forest.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

// What each model's bytes are summed up to, by its name.
using NotedSums = std::vector<std::pair<std::string, std::uint32_t>>;

// The labels of the second output: two classes.
std::span<const std::uint32_t> two_classes(const MixedProblem& problem) {
  return std::span(problem.labels).last(problem.n);
}

std::vector<double> targets_of(const MixedProblem& problem, const LossOptions& loss) {
  if (loss.n_classes == 0)
    return {problem.y.begin(), problem.y.begin() + static_cast<std::ptrdiff_t>(problem.n)};
  const std::span<const std::uint32_t> labels(problem.labels);
  const auto chosen = loss.n_classes == 2 ? two_classes(problem) : labels.first(problem.n);
  return {chosen.begin(), chosen.end()};
}

std::uint32_t boosted_sum(const LossOptions& loss, const TreeGrowth& trees) {
  const MixedProblem problem(700);
  const Context context(1, 17);
  const BinnedDataset table = problem.mixed(context, 20);
  const std::vector<double> targets = targets_of(problem, loss);
  const auto objective = make_objective(loss, targets, problem.weights);
  std::vector<RowIndex> rows;
  for (RowIndex row = 0; row < problem.n; ++row) {
    if (problem.weights[row] > 0.0) rows.push_back(row);
  }
  BoostingOptions options;
  options.n_rounds = 8;
  options.trees = trees;
  const Boosted boosted =
      boost({table, rows, problem.weights, {}, *objective}, nullptr, options, {}, {}, context);
  return crc32c(write_ensemble_sections(boosted.ensemble));
}

void check_boosting(const TreeGrowth& trees, const NotedSums& noted) {
  for (const auto& noted_sum : noted) {
    const std::string name = noted_sum.first;
    CAPTURE(name);
    LossOptions loss{name == "softmax" ? "log_loss" : name};
    if (name == "softmax") loss.n_classes = 3;
    if (name == "log_loss" || name == "exponential") loss.n_classes = 2;
    if (name == "quantile") loss.levels = {0.1, 0.75};
    CHECK(boosted_sum(loss, trees) == noted_sum.second);
  }
}

}  // namespace

TEST_CASE("the same bits from every build: boosting with histograms" *
          doctest::test_suite("one thread")) {
  HistogramOptions options;
  check_boosting(options, {{"log_loss", 0x280ac7d7},
                           {"softmax", 0x4a192490},
                           {"exponential", 0x1820b7e2},
                           {"squared_error", 0x98f42d2b},
                           {"absolute_error", 0x19f65696},
                           {"huber", 0x4f6e046c},
                           {"quantile", 0xa734883c},
                           {"poisson", 0xed27b09d},
                           {"gamma", 0xe2a9d7f4},
                           {"tweedie", 0x176ecbfc}});
}

TEST_CASE("the same bits from every build: boosting with exact trees" *
          doctest::test_suite("one thread")) {
  check_boosting(ExactGrowth{.growth = {.max_depth = 3}}, {{"log_loss", 0xa48f048a},
                                                           {"softmax", 0x96c1f818},
                                                           {"squared_error", 0xb2847e25},
                                                           {"huber", 0x4831c389},
                                                           {"poisson", 0xe7fd8965}});
}

TEST_CASE("the same bits from every build: forests" * doctest::test_suite("one thread")) {
  const MixedProblem problem(700);
  const Context context(1, 17);
  const BinnedDataset table = problem.mixed(context);
  ForestOptions options;
  options.n_trees = 5;
  options.growth.max_features = 2;
  options.keep_rows = true;
  const std::vector<std::size_t> n_classes{3};
  const Forest classes =
      fit_classification_forest(table, std::span(problem.labels).first(problem.n), n_classes,
                                problem.weights, ClassMeasure::entropy, options, {}, context);
  CHECK(crc32c(write_forest_section(classes)) == 0x436a2dbf);
  const Forest targets =
      fit_regression_forest(table, std::span(problem.y).first(problem.n), 1, problem.weights,
                            RegressionMeasure::squared_error, options, {}, context);
  CHECK(crc32c(write_forest_section(targets)) == 0x7d7180a4);
}

TEST_CASE("the same bits from every build: AdaBoost" * doctest::test_suite("one thread")) {
  const MixedProblem problem(700);
  const Context context(1, 17);
  const BinnedDataset table = problem.mixed(context);
  const std::vector<std::uint32_t> noted{0x678d2ed3, 0xe81f0f87, 0xabb3293e, 0x8f1917d9, 0x93787da0,
                                         0x5ecb30e4, 0xdae85282, 0x2845fb3e, 0xd4b5eb74};
  for (std::size_t number = 0; number < noted.size(); ++number) {
    CAPTURE(number);
    AdaBoostOptions options;
    options.algorithm = static_cast<AdaBoostAlgorithm>(number);
    options.n_rounds = 12;
    options.growth.max_depth = 2;
    const bool two = options.algorithm == AdaBoostAlgorithm::discrete;
    const std::span<const std::uint32_t> labels(problem.labels);
    const AdaBoosted boosted =
        fit_adaboost({table, two ? two_classes(problem) : labels.first(problem.n), two ? 2u : 3u,
                      problem.weights},
                     options, {}, context);
    Bytes bytes = write_forest_section(boosted.forest);
    for (const AdaBoostRound& round : boosted.rounds) append(bytes, round.weight);
    CHECK(crc32c(bytes) == noted[number]);
  }
}

}  // namespace arboleda
