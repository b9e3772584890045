// The four moves of the Metropolis-Hastings step: Chipman, George & McCulloch (1998), section 5.1; the
// shares are those of (2010), section 3.1.
//
//   grow    a leaf, uniform over the leaves that can split, gets a rule from the prior
//   prune   a node whose children are leaves, uniform over these, becomes a leaf
//   change  an inner node, uniform over these, gets another rule from the prior
//   swap    a pair of inner nodes, parent and child, uniform over these, exchange their rules
//
// A move that the tree does not allow is not tried: the shares of the others are divided by their sum, and
// the probability q of a move takes that into account. With T the tree, T' the proposed one, p the prior
// of rules at the node, b the leaves that can split, w the nodes with two leaves:
//
//   grow    q(T'|T) = P(grow|T) / b(T) p(rule)        q(T|T') = P(prune|T') / w(T')
//   prune   q(T'|T) = P(prune|T) / w(T)               q(T|T') = P(grow|T') / b(T') p(rule)
//   change  q(T'|T) ~ P(change|T) p(new rule)         q(T|T') ~ P(change|T') p(old rule)
//   swap    q(T'|T) ~ P(swap|T)                       q(T|T') ~ P(swap|T')
//
// (the number of inner nodes and of pairs stays as it is), and T' is taken with probability
//
//   min(1, L(T') p(T') q(T|T') / (L(T) p(T) q(T'|T))).
//
// A. Kapelner & J. Bleich (2016), "bartMachine: machine learning with Bayesian additive regression
// trees", Journal of Statistical Software 70(4), appendix A, writes the ratios out for grow, prune and
// change (there only of nodes with two leaves); here p(T') / p(T) is computed from the whole trees, so that
// rules further down count, too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "bart/sampled_tree.h"
#include "bart/tree_prior.h"
#include "base/random.h"

namespace arboleda {

enum class Move : std::uint8_t { grow, prune, change, swap, none };
inline constexpr std::size_t kMoves = 4;

using MoveShares = std::array<double, kMoves>;
inline constexpr MoveShares kPaperShares = {0.25, 0.25, 0.40, 0.10};

// What can be done with a tree.
struct MoveChoices {
  std::vector<Slot> growable, prunable, inner, pairs;  // pairs: the children
  MoveShares probability{};
};

// n_rows: of each leaf, by its number. Leaves with fewer than 2 min_samples_leaf rows cannot split.
MoveChoices move_choices(const SampledTree& tree, const TreePrior& prior, const MoveShares& shares,
                         const std::array<std::size_t, kMostBartLeaves>& n_rows,
                         std::size_t min_samples_leaf);

struct Proposal {
  Move move = Move::none;
  Slot node = -1;  // grown, pruned, changed; of a swap the parent
  SampledTree tree;
  double log_rule = 0.0;  // log p of the rule grown or pruned; of change log p(new) - log p(old)
};

// Move::none where nothing can be done.
Proposal propose(const SampledTree& tree, const MoveChoices& choices, const TreePrior& prior,
                 QuickStream& stream);

// log q(T|T') - log q(T'|T). after: what can be done with the proposed tree.
double log_transition_ratio(const Proposal& proposal, const MoveChoices& before,
                            const MoveChoices& after);

}  // namespace arboleda
