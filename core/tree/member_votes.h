// The vote of a member of a weighted ensemble (AdaBoost and its family) for a row, and the weighted sum
// of all votes. The leaf p that a row reaches in a member votes, for class k,
//
//   largest    1 for its largest class, the first of several, else 0       discrete, M1, SAMME
//   log_odds   (K-1) (log p_k - mean_j log p_j), shares p clipped at 2^-52  real, SAMME.R
//   scores     p_k as it is                                                M2, MH, MR
//   of_class   its only value, if the tree is the one of class k, else 0   gentle, logit
//
// For two classes log_odds are -f and f with f = log(p_1 / p_0) / 2: Friedman, Hastie, Tibshirani (2000),
// algorithm 2. For more: Zhu, Zou, Rosset, Hastie (2009), "Multi-class AdaBoost", algorithm 4.
//
// A member is one tree, or with of_class one tree a class: trees t K .. t K + K - 1 are round t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/forest.h"

namespace arboleda {

enum class MemberVote : std::uint8_t { largest, log_odds, scores, of_class };

// weight x the vote of a leaf of these values; out has as many entries as values.
void vote_of_leaf(MemberVote vote, std::span<const double> values, double weight,
                  std::span<double> out);

// The vote of each leaf of each tree, times the member's weight: computed once, looked up for each row.
class MemberVotes {
 public:
  // weights: of each member. Throws Error(invalid_argument) where they are not so many.
  MemberVotes(const Forest& forest, MemberVote vote, std::span<const double> weights,
              std::size_t trees_a_member);

  std::size_t trees_a_member() const { return trees_a_member_; }

  // Of the sums: one a class; or 1, where of_class has one tree a member.
  std::size_t n_outputs() const { return n_outputs_; }

  // The votes of the leaves of a tree, times the weight: leaves x outputs of a leaf, row-major.
  std::span<const double> leaf_votes(std::size_t tree) const {
    const std::size_t end = tree + 1 < begin_.size() ? begin_[tree + 1] : leaf_votes_.size();
    return std::span(leaf_votes_).subspan(begin_[tree], end - begin_[tree]);
  }
  std::size_t width() const { return width_; }

  // Adds the vote of a leaf, `leaf` being its number among the leaves of the tree.
  void add(std::size_t tree, std::size_t leaf, double* sums) const {
    const double* leaf_votes = &leaf_votes_[begin_[tree] + leaf * width_];
    sums += tree % trees_a_member_ * (trees_a_member_ > 1);
    for (std::size_t k = 0; k < width_; ++k) sums[k] += leaf_votes[k];
  }

 private:
  std::size_t width_;  // outputs of a leaf
  std::size_t trees_a_member_;
  std::size_t n_outputs_;
  std::vector<std::size_t> begin_;  // of each tree in said_
  std::vector<double> leaf_votes_;
};

}  // namespace arboleda
