#include "tree/member_votes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace arboleda {

namespace {

constexpr double kSmallestShare = std::numeric_limits<double>::epsilon();

void log_odds(std::span<const double> shares, double weight, std::span<double> out) {
  const auto n = static_cast<double>(shares.size());
  double mean = 0.0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    out[k] = std::log(std::max(shares[k], kSmallestShare));
    mean += out[k];
  }
  mean /= n;
  for (double& x : out) x = weight * ((n - 1.0) * (x - mean));
}

}  // namespace

void vote_of_leaf(MemberVote vote, std::span<const double> values, double weight,
                  std::span<double> out) {
  switch (vote) {
    case MemberVote::largest:
      std::fill(out.begin(), out.end(), 0.0);
      out[static_cast<std::size_t>(std::max_element(values.begin(), values.end()) -
                                   values.begin())] = weight;
      break;
    case MemberVote::log_odds:
      log_odds(values, weight, out);
      break;
    case MemberVote::scores:
    case MemberVote::of_class:
      for (std::size_t k = 0; k < values.size(); ++k) out[k] = weight * values[k];
      break;
  }
}

MemberVotes::MemberVotes(const Forest& forest, MemberVote vote, std::span<const double> weights,
                         std::size_t trees_a_member)
    : width_(static_cast<std::size_t>(forest.n_outputs)),
      trees_a_member_(trees_a_member),
      n_outputs_(width_ * trees_a_member) {
  require(trees_a_member >= 1 && forest.trees.size() == weights.size() * trees_a_member,
          "one weight a member is needed");
  require(trees_a_member == 1 || (width_ == 1 && vote == MemberVote::of_class),
          "only trees of one class each share a member");
  begin_.reserve(forest.trees.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const CompactTree& tree = forest.trees[t];
    begin_.push_back(leaf_votes_.size());
    leaf_votes_.resize(leaf_votes_.size() + tree.n_leaves() * width_);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
      if (!tree.nodes[node].is_leaf()) continue;
      const auto values = tree.leaf_value(static_cast<NodeIndex>(node), width_, forest.measure);
      vote_of_leaf(
          vote, values, weights[t / trees_a_member],
          std::span(leaf_votes_).subspan(begin_[t] + tree.nodes[node].leaf() * width_, width_));
    }
  }
}

}  // namespace arboleda
