#include "bart/chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include "bart/draws.h"
#include "base/context.h"

namespace arboleda {
namespace {

// A column of codes, as coding makes it.
RuleColumn column_of(const std::vector<std::uint8_t>& codes, Code n_values,
                     bool has_missing = false, bool is_categorical = false) {
  RuleColumn column;
  column.is_categorical = is_categorical;
  column.has_missing = has_missing;
  column.n_values = n_values;
  for (Code c = 0; !is_categorical && c + 1 < n_values; ++c) column.cuts.push_back(c + 0.5);
  column.codes = codes;
  return column;
}

std::string text_of(const SampledTree& tree, Slot slot = 0) {
  const SampledNode& node = tree[slot];
  if (node.is_leaf()) return ".";
  const Rule& r = node.rule;
  std::string text = std::to_string(r.feature);
  text += ':';
  text += std::to_string(r.cut);
  text += r.missing_left ? '<' : '>';
  text += '(';
  text += text_of(tree, node.left);
  text += text_of(tree, node.right);
  text += ')';
  return text;
}

// Every rule there could be of a column.
std::vector<Rule> rules_of(const RuleColumns& columns) {
  std::vector<Rule> rules;
  for (FeatureIndex j = 0; j < columns.n_features(); ++j) {
    const Code end = columns[j].missing_cut();
    for (Code cut = 0; cut < end; ++cut) {
      rules.push_back({j, cut, false});
      rules.push_back({j, cut, true});
    }
    rules.push_back({j, end, columns[j].is_categorical});
  }
  return rules;
}

// Every tree that the prior can make, by its text, without its copies in other orders of growing: leaves
// are grown from the left to the right.
void enumerate(const SampledTree& tree, std::size_t next, const TreePrior& prior,
               const std::vector<Rule>& rules, std::map<std::string, SampledTree>& found) {
  std::vector<Slot> leaves;
  for (const Slot slot : tree.preorder()) {
    if (tree[slot].is_leaf()) leaves.push_back(slot);
  }
  if (next == leaves.size()) {
    found.emplace(text_of(tree), tree);
    return;
  }
  enumerate(tree, next + 1, prior, rules, found);
  for (const Rule& rule : rules) {
    SampledTree grown = tree;
    grown.grow(leaves[next], rule);
    if (std::isfinite(prior.log_tree(grown))) enumerate(grown, next, prior, rules, found);
  }
}

std::map<std::string, SampledTree> all_trees(const TreePrior& prior) {
  std::map<std::string, SampledTree> found;
  enumerate(SampledTree(), 0, prior, rules_of(prior.columns()), found);
  return found;
}

// log p(y | tree) with the leaves integrated out, row by row from the definition: y of a leaf is normal
// with covariance sigma^2 diag(1 / w) + tau^2 1 1'. By the chain rule over the rows.
double naive_log_likelihood(const SampledTree& tree, const BartRows& rows, double sigma,
                            double tau) {
  std::map<Slot, std::pair<double, double>> posterior;  // of each leaf: mean and variance so far
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.target.size(); ++i) {
    Slot slot = 0;
    while (!tree[slot].is_leaf()) {
      const RuleColumn& column = rows.columns[tree[slot].rule.feature];
      const Code code = std::get<0>(column.codes)[i];
      slot = column.goes_left(code, tree[slot].rule) ? tree[slot].left : tree[slot].right;
    }
    auto [at, is_new] = posterior.try_emplace(slot, 0.0, tau * tau);
    auto& [mean, variance] = at->second;
    const double noise = sigma * sigma / (rows.weight.empty() ? 1.0 : rows.weight[i]);
    const double total = variance + noise;
    const double off = rows.target[i] - mean;
    sum -= 0.5 * (std::log(total) + off * off / total);
    mean += variance / total * off;
    variance *= noise / total;
  }
  return sum;
}

// Compares how often a chain of one tree visits each tree with the exact posterior.
void check_visits(const BartRows& rows, BartOptions options) {
  constexpr std::size_t n_sweeps = 100'000;
  options.n_trees = 1;
  options.min_samples_leaf = 0;
  options.sigma_is_known = true;
  const TreePrior prior(rows.columns, options.split);
  std::map<std::string, double> exact;
  double total = 0.0;
  for (const auto& [text, tree] : all_trees(prior)) {
    exact[text] = std::exp(prior.log_tree(tree) +
                           naive_log_likelihood(tree, rows, options.sigma, options.leaf_sd));
    total += exact[text];
  }
  REQUIRE(exact.size() > 10);
  BartChain chain(rows, options, 7, 0);
  std::map<std::string, double> visits;
  for (std::size_t i = 0; i < n_sweeps; ++i) {
    chain.sweep();
    visits[text_of(chain.tree(0))] += 1.0 / static_cast<double>(n_sweeps);
  }
  double distance = 0.0;  // total variation,
  double expected = 0.0;  // and what it would be of independent draws
  for (const auto& [text, weight] : exact) {
    const double p = weight / total;
    distance += std::abs(visits[text] - p) / 2.0;
    expected += std::sqrt(2.0 * p * (1.0 - p) / (std::acos(-1.0) * n_sweeps)) / 2.0;
  }
  CHECK(visits.size() <= exact.size());  // none that the prior cannot make
  CHECK(distance < 5.0 * expected);      // those of a chain hang together
  for (std::size_t move = 0; move < kMoves; ++move) CHECK(chain.counts().taken[move] > 0);
}

const std::vector<std::uint8_t> kThree = {0, 0, 1, 1, 2, 2, 2, 1, 0, 2};
const std::vector<std::uint8_t> kTwo = {0, 1, 0, 1, 0, 1, 1, 0, 1, 1};
const std::vector<double> kTarget = {-0.4, -0.3, 0.1, 0.0, 0.3, 0.2, 0.5, 0.4, -0.5, 0.3};

TEST_CASE("One tree visits every tree as often as the exact posterior predicts" *
          doctest::test_suite("one thread")) {
  BartOptions options;
  options.sigma = 0.3;
  options.leaf_sd = 0.3;
  SUBCASE("two columns of numbers") {
    const RuleColumns columns{10, {column_of(kThree, 3), column_of(kTwo, 2)}};
    options.split = {0.7, 1.0};
    check_visits({columns, kTarget, {}}, options);
  }
  SUBCASE("weights") {
    const RuleColumns columns{10, {column_of(kThree, 3), column_of(kTwo, 2)}};
    const std::vector<double> weight = {1, 2, 0.5, 3, 1, 1, 4, 0.25, 1, 2};
    options.split = {0.9, 0.5};
    check_visits({columns, kTarget, weight}, options);
  }
  SUBCASE("missing values") {
    const RuleColumns columns{10, {column_of(kThree, 2, true), column_of(kTwo, 2)}};
    options.split = {0.6, 1.5};
    check_visits({columns, kTarget, {}}, options);
  }
  SUBCASE("categories") {
    const RuleColumns columns{10, {column_of(kThree, 3, false, true), column_of(kTwo, 2)}};
    options.split = {0.6, 1.5};
    check_visits({columns, kTarget, {}}, options);
  }
  SUBCASE("categories, some of them missing") {
    const RuleColumns columns{10, {column_of(kThree, 2, true, true), column_of(kTwo, 2)}};
    options.split = {0.6, 1.5};
    check_visits({columns, kTarget, {}}, options);
  }
}

// A column of so many rows, all values of which differ.
RuleColumns distinct_columns(std::size_t n_rows, std::size_t n_columns) {
  RuleColumns columns{n_rows, {}};
  for (std::size_t j = 0; j < n_columns; ++j) {
    std::vector<std::uint8_t> codes(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
      codes[i] = static_cast<std::uint8_t>((i * (2 * j + 1)) % n_rows);
    }
    columns.columns.push_back(column_of(codes, static_cast<Code>(n_rows)));
  }
  return columns;
}

TEST_CASE("Without a likelihood trees have the sizes of the prior" *
          doctest::test_suite("one thread")) {
  // Chipman, George & McCulloch (2010), section 2.2.2: 1, 2, 3, 4 and 5 or more leaves have the
  // probabilities 0.05, 0.55, 0.28, 0.09 and 0.03.
  const std::size_t n = 200;
  const RuleColumns columns = distinct_columns(n, 5);
  const std::vector<double> target(n, 0.0);
  BartOptions options;
  options.n_trees = 10;
  options.min_samples_leaf = 0;
  options.sigma = 1e6;
  options.sigma_is_known = true;
  BartChain chain({columns, target, {}}, options, 3, 0);
  std::array<double, 6> share{};
  const int n_sweeps = 20'000;
  for (int sweep = 0; sweep < n_sweeps; ++sweep) {
    chain.sweep();
    for (std::size_t j = 0; j < options.n_trees; ++j) {
      share[std::min<std::size_t>(chain.tree(j).n_leaves(), 5)] += 0.1 / n_sweeps;
    }
  }
  // The exact ones: a root splits with 0.95, a child with 0.2375, a grandchild with 0.10556.
  const double root = 0.95, child = 0.95 / 4, grandchild = 0.95 / 9;
  CHECK(share[1] == doctest::Approx(1 - root).epsilon(0.05));
  CHECK(share[2] == doctest::Approx(root * (1 - child) * (1 - child)).epsilon(0.02));
  CHECK(share[3] ==
        doctest::Approx(root * 2 * child * (1 - child) * (1 - grandchild) * (1 - grandchild))
            .epsilon(0.03));
  CHECK(std::abs(share[4] - 0.09) < 0.01);
  CHECK(std::abs(share[5] - 0.03) < 0.01);
}

TEST_CASE("Leaves and sigma are drawn from their conjugate distributions") {
  // No rule is on offer: the tree stays a leaf, and the chain is a Gibbs sampler of mu and sigma.
  const std::vector<double> target = {0.5, 0.1, 0.3, 0.4, -0.1, 0.2};
  const std::vector<double> weight = {1.0, 2.0, 1.0, 0.5, 1.0, 3.0};
  const RuleColumns columns{6, {column_of({0, 0, 0, 0, 0, 0}, 1)}};
  BartOptions options;
  options.n_trees = 1;
  options.leaf_sd = 0.2;
  SUBCASE("mu, sigma known") {
    options.sigma = 0.3;
    options.sigma_is_known = true;
    BartChain chain({columns, target, weight}, options, 1, 0);
    double total = 1.0 / 0.04, sum = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      total += weight[i] / 0.09;
      sum += weight[i] * target[i] / 0.09;
    }
    const int n = 40'000;
    double mean = 0.0, squares = 0.0;
    for (int i = 0; i < n; ++i) {
      chain.sweep();
      mean += chain.value(0, 0) / n;
      squares += chain.value(0, 0) * chain.value(0, 0) / n;
    }
    CHECK(mean == doctest::Approx(sum / total).epsilon(0.01));
    CHECK(squares - mean * mean == doctest::Approx(1.0 / total).epsilon(0.03));
  }
  SUBCASE("sigma, mu all but known") {
    options.leaf_sd = 1e-6;
    options.nu = 4.0;
    options.lambda = 0.05;
    BartChain chain({columns, target, weight}, options, 1, 0);
    double sum = options.nu * options.lambda;
    for (std::size_t i = 0; i < 6; ++i) sum += weight[i] * target[i] * target[i];
    const int n = 40'000;
    double variance = 0.0, precision = 0.0;
    for (int i = 0; i < n; ++i) {
      chain.sweep();
      variance += chain.sigma() * chain.sigma() / n;
      precision += 1.0 / (chain.sigma() * chain.sigma()) / n;
    }
    CHECK(variance ==
          doctest::Approx(sum / (4.0 + 6.0 - 2.0)).epsilon(0.02));  // inverse chi-square
    CHECK(precision == doctest::Approx((4.0 + 6.0) / sum).epsilon(0.02));
  }
}

// The sum of all trees at row i.
double fit_at(const BartChain& chain, const BartOptions& options, const RuleColumns& columns,
              std::size_t i) {
  double sum = 0.0;
  for (std::size_t j = 0; j < options.n_trees; ++j) {
    const SampledTree& tree = chain.tree(j);
    Slot slot = 0;
    while (!tree[slot].is_leaf()) {
      const RuleColumn& column = columns[tree[slot].rule.feature];
      const Code code = std::get<0>(column.codes)[i];
      slot = column.goes_left(code, tree[slot].rule) ? tree[slot].left : tree[slot].right;
    }
    sum += chain.value(j, slot);
  }
  return sum;
}

TEST_CASE("Posteriors of what the prior made have uniform ranks" *
          doctest::test_suite("one thread")) {
  // Simulation-based calibration: S. Talts et al. (2018), "Validating Bayesian inference algorithms with
  // simulation-based calibration". Trees, leaves and sigma from the prior, targets from these; the true
  // value then has a uniform rank among draws from the posterior, whatever the number of trees.
  const std::size_t n = 40;
  const RuleColumns columns = distinct_columns(n, 3);
  BartOptions options;
  options.n_trees = 6;
  options.min_samples_leaf = 1;
  options.leaf_sd = 0.1;
  options.nu = 5.0;
  options.lambda = 0.01;
  BartOptions prior = options;
  prior.sigma = 1e6;
  prior.sigma_is_known = true;
  constexpr int n_simulations = 400, n_draws = 19, n_bins = 10;
  std::array<std::array<int, n_bins>, 3> ranks{};
  const std::vector<double> zeros(n, 0.0);
  BartChain source({columns, zeros, {}}, prior, 11, 0);
  QuickStream stream(5, 5);
  for (int simulation = 0; simulation < n_simulations; ++simulation) {
    for (int i = 0; i < 20; ++i) source.sweep();
    const double sigma =
        std::sqrt(options.nu * options.lambda / draw_chi_square(stream, options.nu));
    std::vector<double> target(n), truth{sigma, 0.0, 0.0};
    for (std::size_t i = 0; i < n; ++i) {
      const double fit = fit_at(source, prior, columns, i);
      target[i] = fit + sigma * draw_normal(stream);
      truth[1] += fit / n;
      if (i == 7) truth[2] = fit;
    }
    BartChain chain({columns, target, {}}, options, 13, static_cast<std::uint32_t>(simulation));
    std::array<int, 3> rank{};
    for (int sweep = 0; sweep < 100; ++sweep) chain.sweep();
    for (int draw = 0; draw < n_draws; ++draw) {
      for (int i = 0; i < 25; ++i) chain.sweep();
      rank[0] += chain.sigma() < truth[0];
      rank[1] += chain.mean_fit() < truth[1];
      rank[2] += fit_at(chain, options, columns, 7) < truth[2];
    }
    for (std::size_t q = 0; q < 3; ++q) ++ranks[q][static_cast<std::size_t>(rank[q] / 2)];
  }
  for (const auto& counts : ranks) {
    double chi_square = 0.0;
    for (const int count : counts) {
      const double expected = static_cast<double>(n_simulations) / n_bins;
      chi_square += (count - expected) * (count - expected) / expected;
    }
    CHECK(chi_square < 27.9);  // 9 degrees of freedom: 0.999
  }
}

TEST_CASE("What the sampler cannot use is refused") {
  const RuleColumns columns{2, {column_of({0, 1}, 2)}};
  const std::vector<double> target = {0.0, 0.5};
  BartOptions options;
  CHECK_NOTHROW(check_bart({columns, target, {}}, options));
  const std::vector<double> one = {0.5}, zero = {0.0, 1.0};
  CHECK_THROWS_AS(check_bart({columns, one, {}}, options), Error);
  CHECK_THROWS_AS(check_bart({columns, target, zero}, options), Error);
  options.is_probit = true;
  CHECK_THROWS_AS(check_bart({columns, target, {}}, options), Error);
  options.is_probit = false;
  options.split.alpha = 1.0;
  CHECK_THROWS_AS(check_bart({columns, target, {}}, options), Error);
}

}  // namespace
}  // namespace arboleda
