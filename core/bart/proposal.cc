#include "bart/proposal.h"

#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr std::size_t at(Move move) { return static_cast<std::size_t>(move); }

Slot draw_one(const std::vector<Slot>& slots, QuickStream& stream) {
  return slots[stream.below(static_cast<std::uint32_t>(slots.size()))];
}

double log_count(const std::vector<Slot>& slots) {
  return stable_log(static_cast<double>(slots.size()));
}

Move draw_move(const MoveShares& probability, QuickStream& stream) {
  double u = stream.uniform();
  Move last = Move::none;
  for (std::size_t move = 0; move < kMoves; ++move) {
    if (probability[move] == 0.0) continue;
    last = static_cast<Move>(move);
    if (u < probability[move]) break;
    u -= probability[move];
  }
  return last;
}

}  // namespace

MoveChoices move_choices(const SampledTree& tree, const TreePrior& prior, const MoveShares& shares,
                         const std::array<std::size_t, kMostBartLeaves>& n_rows,
                         std::size_t min_samples_leaf) {
  MoveChoices choices;
  const bool has_room = tree.n_leaves() < kMostBartLeaves;
  for (const Slot slot : tree.preorder()) {
    const SampledNode& node = tree[slot];
    if (node.is_leaf()) {
      if (has_room && n_rows[node.leaf] >= 2 * min_samples_leaf &&
          prior.n_columns_at(tree, slot) > 0) {
        choices.growable.push_back(slot);
      }
      continue;
    }
    choices.inner.push_back(slot);
    if (tree.has_two_leaves(slot)) choices.prunable.push_back(slot);
    if (slot != 0) choices.pairs.push_back(slot);
  }
  const std::vector<Slot>* slots[kMoves] = {&choices.growable, &choices.prunable, &choices.inner,
                                            &choices.pairs};
  double sum = 0.0;
  for (std::size_t move = 0; move < kMoves; ++move) sum += slots[move]->empty() ? 0 : shares[move];
  for (std::size_t move = 0; move < kMoves; ++move) {
    choices.probability[move] = slots[move]->empty() || sum == 0.0 ? 0.0 : shares[move] / sum;
  }
  return choices;
}

Proposal propose(const SampledTree& tree, const MoveChoices& choices, const TreePrior& prior,
                 QuickStream& stream) {
  Proposal proposal{draw_move(choices.probability, stream), -1, tree, 0.0};
  switch (proposal.move) {
    case Move::grow: {
      proposal.node = draw_one(choices.growable, stream);
      const Rule rule = prior.draw_rule(tree, proposal.node, stream);
      proposal.log_rule = prior.log_rule(tree, proposal.node, rule);
      proposal.tree.grow(proposal.node, rule);
      break;
    }
    case Move::prune:
      proposal.node = draw_one(choices.prunable, stream);
      proposal.log_rule = prior.log_rule(tree, proposal.node, tree[proposal.node].rule);
      proposal.tree.prune(proposal.node);
      break;
    case Move::change: {
      proposal.node = draw_one(choices.inner, stream);
      const Rule rule = prior.draw_rule(tree, proposal.node, stream);
      proposal.log_rule = prior.log_rule(tree, proposal.node, rule) -
                          prior.log_rule(tree, proposal.node, tree[proposal.node].rule);
      proposal.tree.set_rule(proposal.node, rule);
      break;
    }
    case Move::swap: {
      // A child never has its parent's rule, nor have two children the same rule as their parent had:
      // that rule leaves nothing on one side of it. So no swap is undone by another than itself.
      const Slot child = draw_one(choices.pairs, stream);
      proposal.node = tree[child].parent;
      const Slot left = tree[proposal.node].left;
      const Slot right = tree[proposal.node].right;
      const Rule moved_up = tree[child].rule;
      const bool both =
          !tree[left].is_leaf() && !tree[right].is_leaf() && tree[left].rule == tree[right].rule;
      proposal.tree.set_rule(proposal.node, moved_up);
      proposal.tree.set_rule(child, tree[proposal.node].rule);
      if (both) proposal.tree.set_rule(child == left ? right : left, tree[proposal.node].rule);
      break;
    }
    case Move::none:
      break;
  }
  return proposal;
}

double log_transition_ratio(const Proposal& proposal, const MoveChoices& before,
                            const MoveChoices& after) {
  const Move back = proposal.move == Move::grow    ? Move::prune
                    : proposal.move == Move::prune ? Move::grow
                                                   : proposal.move;
  const double log_moves =
      stable_log(after.probability[at(back)]) - stable_log(before.probability[at(proposal.move)]);
  switch (proposal.move) {
    case Move::grow:
      return log_moves + log_count(before.growable) - log_count(after.prunable) - proposal.log_rule;
    case Move::prune:
      return log_moves + log_count(before.prunable) - log_count(after.growable) + proposal.log_rule;
    case Move::change:
      return log_moves - proposal.log_rule;
    case Move::swap:
    case Move::none:
      break;
  }
  return log_moves;
}

}  // namespace arboleda
