#include "tree/linear_leaves.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tree/ensemble.h"

namespace arboleda {

namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// A root with two leaves, over two columns.
Tree stump() {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 1;
  const std::vector<double> value{7.0};
  append_node(a, {false, 1, 0.5, false, 1.0, 8, 8.0}, value, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 4, 4.0}, value, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 4, 4.0}, value, 0);
  return Tree(std::move(a));
}

// The right leaf predicts 10 + 2 (x0 - 1) - (x1 + 3), for x0 in [1, 4] and x1 in [-3, 0].
LinearLeaves of_stump() {
  return {{0, 0, 0, 2}, {0.0, 0.0, 10.0}, {0, 1}, {2.0, -1.0}, {1.0, -3.0}, {4.0, 0.0}};
}

double value_at(const LinearLeaves& leaves, std::size_t node, double x0, double x1) {
  return leaves.value_at(node, 7.0,
                         [&](std::size_t e) { return leaves.feature[e] == 0 ? x0 : x1; });
}

bool same(const LinearLeaves& a, const LinearLeaves& b) {
  return a.start == b.start && a.intercept == b.intercept && a.feature == b.feature &&
         a.coefficient == b.coefficient && a.low == b.low && a.high == b.high;
}

}  // namespace

TEST_SUITE("linear leaves") {
  TEST_CASE("predictions within the range, beyond it, and without a value") {
    const LinearLeaves leaves = of_stump();
    CHECK(value_at(leaves, 2, 2.0, -1.0) == 10.0);
    CHECK(value_at(leaves, 2, 4.0, -3.0) == 16.0);
    CHECK(value_at(leaves, 2, 1e300, -1e300) == 16.0);
    CHECK(value_at(leaves, 2, -1e300, 1e300) == 7.0);
    CHECK(value_at(leaves, 2, kMissing, -1.0) == 7.0);
    CHECK(value_at(leaves, 2, 2.0, kMissing) == 7.0);
    CHECK(value_at(leaves, 1, 2.0, -1.0) == 7.0);
  }

  TEST_CASE("trees of both kinds follow each other, and parts of them come back") {
    TreeEnsemble ensemble{{0.0}, {}};
    for (int i = 0; i < 6; ++i) {
      add_tree(ensemble, stump(), i % 3 == 2 ? of_stump() : LinearLeaves{});
    }
    check_ensemble(ensemble);
    CHECK(ensemble.linear.n_nodes() == 18);
    for (std::size_t t = 0; t < 6; ++t) {
      CHECK(same(linear_leaves(ensemble, t, t + 1), t % 3 == 2 ? of_stump() : LinearLeaves{}));
    }
    CHECK(truncated(ensemble, 2).linear.empty());
    for (std::size_t n = 0; n <= 6; ++n) {
      TreeEnsemble first = truncated(ensemble, n), rest{{0.0}, {}};
      check_ensemble(first);
      for (std::size_t t = n; t < 6; ++t) {
        add_tree(rest, stump(), linear_leaves(ensemble, t, t + 1));
      }
      CHECK(same(extended(first, rest).linear, ensemble.linear));
      truncate(first, n / 2);
      CHECK(same(first.linear, truncated(ensemble, n / 2).linear));
    }
  }

  TEST_CASE("what cannot be leaves of the trees is refused") {
    const std::vector<Tree> trees{stump()};
    const auto refused = [&](auto change) {
      LinearLeaves leaves = of_stump();
      change(leaves);
      CHECK_THROWS_AS(check_linear_leaves(leaves, trees), Error);
    };
    CHECK_NOTHROW(check_linear_leaves(of_stump(), trees));
    CHECK_NOTHROW(check_linear_leaves({}, trees));
    refused([](LinearLeaves& l) { l.start = {}; });
    refused([](LinearLeaves& l) { l.start = {0, 2, 2, 2}; });  // the root splits
    refused([](LinearLeaves& l) { l.start = {0, 0, 2, 2}; });  // an intercept without terms
    refused([](LinearLeaves& l) { l.start = {0, 0, 3, 2}; });
    refused([](LinearLeaves& l) { l.start = {0, 0, 0, 3}; });
    refused([](LinearLeaves& l) { l.start = {-1, 0, 0, 2}; });
    refused([](LinearLeaves& l) { l.start.push_back(2); });
    refused([](LinearLeaves& l) { l.intercept.pop_back(); });
    refused([](LinearLeaves& l) { l.low.pop_back(); });
    refused([](LinearLeaves& l) { l.high.push_back(1.0); });
    refused([](LinearLeaves& l) { l.feature = {1, 0}; });
    refused([](LinearLeaves& l) { l.feature = {0, 0}; });
    refused([](LinearLeaves& l) { l.feature = {0, 2}; });
    refused([](LinearLeaves& l) { l.feature = {-1, 0}; });
    refused([](LinearLeaves& l) { l.low[0] = l.high[0]; });
    refused([](LinearLeaves& l) { l = {{0, 0, 0, 0}, {0.0, 0.0, 0.0}, {}, {}, {}, {}}; });
    for (const double bad : {kMissing, HUGE_VAL, -HUGE_VAL}) {
      refused([&](LinearLeaves& l) { l.intercept[2] = bad; });
      refused([&](LinearLeaves& l) { l.coefficient[1] = bad; });
      refused([&](LinearLeaves& l) { l.low[1] = bad; });
      refused([&](LinearLeaves& l) { l.high[0] = bad; });
    }
    refused([](LinearLeaves& l) { l.high[0] = 1e200, l.coefficient[0] = 1e200; });
    refused([](LinearLeaves& l) { l.low[0] = -1.7e308, l.high[0] = 1.7e308; });
  }
}

}  // namespace arboleda
