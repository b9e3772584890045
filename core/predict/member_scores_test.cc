#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "learn/adaboost.h"
#include "learn/mixed_problem.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

// The votes of a leaf of these shares for each of three classes, by the definition.
std::vector<double> naive_vote(MemberVote vote, std::span<const double> p) {
  std::vector<double> votes;
  double mean = 0.0;
  for (const double share : p) mean += std::log(std::max(share, 0x1p-52)) / 3;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto is_largest =
        std::max_element(p.begin(), p.end()) - p.begin() == static_cast<std::ptrdiff_t>(k);
    votes.push_back(vote == MemberVote::log_odds ? 2 * (std::log(std::max(p[k], 0x1p-52)) - mean)
                    : vote == MemberVote::scores ? p[k]
                                                 : is_largest);
  }
  return votes;
}

}  // namespace

TEST_SUITE("member_scores") {
  TEST_CASE("sums of weighted votes, after all members and after each") {
    const MixedProblem problem(400);
    const Context context(2);
    const BinnedDataset table = problem.mixed(context);
    const std::span<const std::uint32_t> labels(problem.labels);
    const AdaBoosted boosted =
        fit_adaboost({table, labels.first(400), 3, {}}, {.n_rounds = 6, .growth = {.max_depth = 3}},
                     {}, context);
    REQUIRE(boosted.rounds.size() == 6);
    const TableView view = problem.dense_view(MixedProblem::kDense);
    const std::vector<double> weights{0.5, 1.5, 0.25, 2.0, 1.0, 3.0};
    for (const MemberVote vote : {MemberVote::largest, MemberVote::log_odds, MemberVote::scores}) {
      const MemberVotes votes(boosted.forest, vote, weights, 1);
      const std::vector<double> nothing(400 * 3, 0.0);
      const auto first = staged_member_scores(boosted.forest, votes, 0, 2, nothing, view, context);
      const auto after = std::span(first).last(400 * 3);
      const auto rest = staged_member_scores(boosted.forest, votes, 2, 6, after, view, context);
      std::vector<double> expected(nothing);
      for (std::size_t t = 0; t < 6; ++t) {
        const Tree tree = tree_of(boosted.forest, t);
        for (std::size_t i = 0; i < 400; ++i) {
          NodeIndex node = 0;
          while (!tree.is_leaf(node)) {
            node = tree.child(node, view.columns[static_cast<std::size_t>(tree.feature(node))][i]);
          }
          const auto votes = naive_vote(vote, tree.value(node));
          for (std::size_t k = 0; k < 3; ++k) expected[i * 3 + k] += weights[t] * votes[k];
        }
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const double sum =
              t < 2 ? first[t * expected.size() + i] : rest[(t - 2) * expected.size() + i];
          REQUIRE(sum == doctest::Approx(expected[i]).epsilon(1e-9));
        }
      }
      const auto all = member_scores(boosted.forest, votes, view, context);
      CHECK(std::equal(all.begin(), all.end(), rest.end() - 400 * 3));
    }
  }

  TEST_CASE("a weight is needed for each member, and sums of the right shape") {
    const MixedProblem problem(60);
    const Context context(1);
    const BinnedDataset table = problem.mixed(context);
    const std::span<const std::uint32_t> labels(problem.labels);
    const AdaBoosted boosted = fit_adaboost(
        {table, labels.first(60), 3, {}}, {.n_rounds = 2, .growth = {.max_depth = 3}}, {}, context);
    CHECK_THROWS_AS(MemberVotes(boosted.forest, boosted.vote, std::vector<double>{1.0}, 1), Error);
    const std::vector<double> weights{1.0, 2.0}, sums(5);
    CHECK_THROWS_AS(MemberVotes(boosted.forest, boosted.vote, std::vector<double>{1.0}, 2), Error);
    const MemberVotes votes(boosted.forest, boosted.vote, weights, 1);
    const TableView view = problem.dense_view(MixedProblem::kDense);
    CHECK_THROWS_AS(staged_member_scores(boosted.forest, votes, 0, 2, sums, view, context), Error);
  }
}

}  // namespace arboleda
