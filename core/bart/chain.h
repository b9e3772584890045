// One Markov chain of BART: backfitting MCMC of Chipman, George & McCulloch (2010), section 3.1.
//
//   y = offset + sum_j g(x; T_j, M_j) + noise,   noise ~ N(0, sigma^2 / w),   leaves mu ~ N(0, tau^2)
//
//   for every tree j in turn, with R_j = y - the other trees:
//     a move of the tree (proposal.h), the leaves integrated out; of a leaf with the sum W of weights and
//     the weighted sum S of R_j this leaves, up to factors that all trees share,
//       log L = 1/2 log(sigma^2 / (sigma^2 + W tau^2)) + tau^2 S^2 / (2 sigma^2 (sigma^2 + W tau^2))
//     the leaves:  mu ~ N(tau^2 S, sigma^2 tau^2) / (sigma^2 + W tau^2)   (mean and variance)
//   sigma^2 ~ (nu lambda + sum w r^2) / chi-square(nu + n),   r = y - all trees
//
// With probit, y is latent: J. H. Albert & S. Chib (1993), "Bayesian analysis of binary and polychotomous
// response data", JASA 88; sigma = 1, and y ~ N(offset + trees, 1) given that it is above 0 for class 1 and
// below 0 for class 0 is drawn anew after every sweep.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bart/proposal.h"
#include "bart/row_passes.h"
#include "bart/tree_prior.h"
#include "base/random.h"

namespace arboleda {

struct BartOptions {
  std::size_t n_trees = 200;
  std::size_t n_burn_in = 250;  // of each chain
  std::size_t n_draws = 250;    // that each chain keeps
  std::size_t n_chains = 4;
  SplitPrior split = {};
  MoveShares moves = kPaperShares;
  std::size_t min_samples_leaf = 5;
  double leaf_sd = 0.0177;  // tau
  double nu = 3.0;
  double lambda = 1.0;
  double sigma = 1.0;           // where the chains begin
  bool sigma_is_known = false;  // then it stays; always with probit
  bool is_probit = false;
  double offset = 0.0;  // of the probit
};

struct BartRows {
  const RuleColumns& columns;
  std::span<const double> target;  // about within [-1/2, 1/2]; with probit 0 or 1
  std::span<const double> weight;  // positive, one a row; or empty for 1. Not with probit
};

// Throws Error(invalid_argument) where something cannot be.
void check_bart(const BartRows& rows, const BartOptions& options);

// The power of two that residuals and leaf values are multiples of: sums of as many trees, and
// residuals many standard deviations away, stay within 32 bits.
double bart_unit(const BartOptions& options);

struct MoveCounts {
  std::array<std::int64_t, kMoves> tried{}, taken{};
};

class BartChain {
 public:
  // What the rows refer to must outlive this. The chain is a function of (seed, number) and of what is given.
  BartChain(const BartRows& rows, const BartOptions& options, std::uint64_t seed,
            std::uint32_t number);

  // One sweep over all trees, then sigma or the latent y.
  void sweep();

  double sigma() const { return sigma_; }
  double mean_fit() const { return mean_fit_; }  // of the trees' sums over the rows
  const MoveCounts& counts() const { return counts_; }
  const SampledTree& tree(std::size_t j) const { return members_[j].tree; }
  double value(std::size_t j, Slot leaf) const {
    return members_[j].value[members_[j].tree[leaf].leaf] * unit_;
  }

  // The nodes of all trees as they are now (packed_node.h).
  void append_draw(std::vector<std::int64_t>& nodes) const;

 private:
  struct Member {
    SampledTree tree;
    double log_prior = 0.0;
    LeafNumbers leaf;  // of each row
    LeafValues value{};
    std::array<std::size_t, kMostBartLeaves> n_rows{};
  };

  void step(Member& member);
  bool sort_candidates(const Member& member, const Proposal& proposal);
  void sum_rows(const Member& member, const Proposal& proposal, bool is_possible);
  double log_likelihood(const SampledTree& tree, const LeafSumTable& sums) const;
  void take(Member& member, Proposal&& proposal);
  void draw_leaves(Member& member, const LeafSumTable& sums);
  void finish_residuals();
  void draw_latent();

  const BartRows rows_;
  const BartOptions options_;
  TreePrior prior_;
  double unit_;
  std::uint64_t root_;
  std::uint64_t n_sweeps_ = 0;
  QuickStream stream_;

  std::vector<Member> members_;
  const Member* before_ = nullptr;  // whose leaves the residuals do not yet lack
  std::vector<std::int32_t> residual_, target_;
  double sigma_;
  double mean_fit_ = 0.0;
  MoveCounts counts_;

  LeafNumbers candidate_;
  std::array<std::size_t, kMostBartLeaves> candidate_rows_{};
  LeafSumTable sums_{}, candidate_sums_{};
};

}  // namespace arboleda
