// Boosting with one tree a round whose leaves hold a step for every output.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "learn/boosting.h"
#include "learn/gradient_sketch.h"
#include "learn/mixed_problem.h"

namespace arboleda {

namespace {

constexpr std::size_t kClasses = 7;

// Seven classes by two columns of a table with gaps and categories.
struct ManyClasses {
  explicit ManyClasses(std::size_t n_rows, int n_threads = 1)
      : problem(n_rows), context(n_threads, 5), table(problem.mixed(context, 255)), rows(n_rows) {
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    RandomStream random(17, Purpose::feature_subset, 0, 0);
    for (std::size_t i = 0; i < n_rows; ++i) {
      const bool noise = random.below(10) == 0;
      target.push_back(noise ? random.below(kClasses)
                             : static_cast<double>((problem.labels[i] + i % 2 * 3) % kClasses));
    }
  }

  Boosted boost(const BoostingOptions& options, TreeEnsemble so_far = {},
                std::span<const RowIndex> of_validation = {}) {
    const auto objective = make_objective({.name = "log_loss", .n_classes = kClasses}, target, {});
    const BoostingRows training{table, rows, {}, {}, *objective};
    const BoostingRows validation{table, of_validation, {}, {}, *objective};
    return arboleda::boost(training, of_validation.empty() ? nullptr : &validation, options,
                           std::move(so_far), {}, context);
  }

  MixedProblem problem;
  Context context;
  BinnedDataset table;
  std::vector<RowIndex> rows;
  std::vector<double> target;
};

BoostingOptions shared_options(std::int64_t n_rounds) {
  BoostingOptions options;
  options.n_rounds = n_rounds;
  options.shares_trees = true;
  HistogramOptions trees;
  trees.max_leaf_nodes = 15;
  trees.min_samples_leaf = 5;
  options.trees = trees;
  return options;
}

void check_same_trees(const TreeEnsemble& a, const TreeEnsemble& b, bool values = true) {
  REQUIRE(a.trees.size() == b.trees.size());
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    CHECK(a.trees[t].arrays().feature == b.trees[t].arrays().feature);
    CHECK(a.trees[t].arrays().threshold == b.trees[t].arrays().threshold);
    if (values) CHECK(a.trees[t].arrays().value == b.trees[t].arrays().value);
  }
}

VectorDerivatives random_derivatives(std::size_t n_rows, std::size_t n_outputs,
                                     std::vector<double>& gradient, std::vector<double>& hessian) {
  RandomStream random(23, Purpose::feature_subset, 0, 0);
  for (std::size_t i = 0; i < n_rows * n_outputs; ++i) {
    gradient.push_back((random.uniform() - 0.5) * static_cast<double>(1 + i / n_rows));
    hessian.push_back(random.uniform());
  }
  return {n_outputs, gradient, hessian};
}

}  // namespace

TEST_CASE("shared trees have the same splits for all outputs, and lower the loss") {
  ManyClasses problem(2000, 2);
  const Boosted boosted = problem.boost(shared_options(20));
  REQUIRE(boosted.ensemble.trees.size() == 20 * kClasses);
  for (std::size_t round = 0; round < 20; ++round) {
    const TreeArrays& first = boosted.ensemble.trees[round * kClasses].arrays();
    for (std::size_t k = 1; k < kClasses; ++k) {
      const TreeArrays& other = boosted.ensemble.trees[round * kClasses + k].arrays();
      CHECK(other.feature == first.feature);
      CHECK(other.threshold == first.threshold);
      CHECK(other.category == first.category);
      CHECK(other.value != first.value);
    }
  }
  const auto& losses = boosted.history.training;
  CHECK(losses.back() < 0.8 * losses.front());
  for (std::size_t i = 1; i < losses.size(); ++i) CHECK(losses[i] < losses[i - 1]);
}

TEST_CASE("shared trees do not depend on threads, and a fit that goes on gives those of one") {
  for (const SketchMethod method :
       {SketchMethod::none, SketchMethod::top, SketchMethod::sampling, SketchMethod::projection}) {
    BoostingOptions options = shared_options(6);
    options.sketch = {method, 3};
    options.sampling = {.method = SamplingMethod::gradient, .row_share = 0.5};
    ManyClasses one(3000), two(3000, 2), three(3000, 3);
    const Boosted expected = one.boost(options);
    check_same_trees(two.boost(options).ensemble, expected.ensemble);
    check_same_trees(three.boost(options).ensemble, expected.ensemble);
    BoostingOptions fewer = options;
    fewer.n_rounds = 2;
    check_same_trees(two.boost(options, two.boost(fewer).ensemble).ensemble, expected.ensemble);
  }
}

TEST_CASE("shared trees that are replayed on their rows keep their values") {
  ManyClasses problem(1500);
  const Boosted boosted = problem.boost(shared_options(5));
  BoostingOptions options = shared_options(5);
  options.replayed = &boosted.ensemble;
  check_same_trees(problem.boost(options).ensemble, boosted.ensemble);
}

TEST_CASE("validation rows of shared trees are scored as in prediction") {
  ManyClasses problem(1800);
  std::vector<RowIndex> held_out;
  for (RowIndex row = 0; row < 1800; row += 3) held_out.push_back(row);
  std::erase_if(problem.rows, [](RowIndex row) { return row % 3 == 0; });
  const Boosted boosted = problem.boost(shared_options(12), {}, held_out);
  REQUIRE(boosted.history.validation.size() == 13);
  CHECK(boosted.history.validation.back() < boosted.history.validation.front());
  // A sampled fit finds the leaves of the rows outside the sample by itself.
  BoostingOptions options = shared_options(12);
  options.sampling.row_share = 0.6;
  const Boosted sampled = problem.boost(options, {}, held_out);
  CHECK(sampled.history.validation.back() < sampled.history.validation.front());
}

TEST_CASE("a sketch of as many columns as outputs is the derivatives themselves") {
  std::vector<double> gradient, hessian;
  const VectorDerivatives all = random_derivatives(50, 4, gradient, hessian);
  const Context context(1);
  const std::vector<RowIndex> rows{0, 1, 2};
  GradientSketch sketch({SketchMethod::projection, 4}, context);
  CHECK(sketch.draw(0, rows, all).gradient.data() == gradient.data());
  CHECK(SketchOptions{SketchMethod::top, 3}.n_searched(4) == 3);
  CHECK(SketchOptions{SketchMethod::none, 3}.n_searched(4) == 4);
}

TEST_CASE("sketches keep the largest outputs, or expected scores") {
  std::vector<double> gradient, hessian;
  constexpr std::size_t kRows = 200, kOutputs = 12, kDims = 3;
  const VectorDerivatives all = random_derivatives(kRows, kOutputs, gradient, hessian);
  const Context context(2, 9);
  std::vector<RowIndex> rows(kRows);
  std::iota(rows.begin(), rows.end(), RowIndex{0});

  GradientSketch top({SketchMethod::top, kDims}, context);
  const VectorDerivatives largest = top.draw(4, rows, all);
  REQUIRE(largest.n_outputs == kDims);
  for (std::size_t j = 0; j < kDims; ++j) {  // outputs were made ever larger
    const auto expected = all.gradient_of(kOutputs - 1 - j);
    CHECK(std::equal(expected.begin(), expected.end(), largest.gradient_of(j).begin()));
  }
  REQUIRE(largest.hessian.size() == kRows);
  double mean = 0.0;
  for (std::size_t k = 0; k < kOutputs; ++k) mean += hessian[k * kRows + 7] / kOutputs;
  CHECK(largest.hessian[7] == doctest::Approx(mean));

  // Of the squared norm of the sums over some rows, which the score of a leaf is made of.
  const auto squared_norm = [](const VectorDerivatives& derivatives) {
    double norm = 0.0;
    for (std::size_t k = 0; k < derivatives.n_outputs; ++k) {
      const auto some = derivatives.gradient_of(k).first(40);
      const double sum = std::accumulate(some.begin(), some.end(), 0.0);
      norm += sum * sum;
    }
    return norm;
  };
  for (const SketchMethod method : {SketchMethod::sampling, SketchMethod::projection}) {
    GradientSketch sketch({method, kDims}, context);
    double sum = 0.0;
    constexpr std::uint32_t kRounds = 4000;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      sum += squared_norm(sketch.draw(round, rows, all));
    }
    CHECK(sum / kRounds == doctest::Approx(squared_norm(all)).epsilon(0.05));
  }
}

TEST_CASE("shared trees refuse what they do not support") {
  ManyClasses problem(100);
  BoostingOptions options = shared_options(2);
  options.linear.is_on = true;
  CHECK_THROWS_AS(problem.boost(options), Error);
  options = shared_options(2);
  options.trees = ExactGrowth{};
  CHECK_THROWS_AS(problem.boost(options), Error);
}

}  // namespace arboleda
