#include "bart/chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bart/draws.h"
#include "bart/packed_node.h"
#include "base/error.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr LeafValues kZeros{};
constexpr double kMostUnits = 0x1p30;

double draw_in_units(double x, double unit) {
  return std::nearbyint(std::clamp(x / unit, -kMostUnits, kMostUnits));
}

std::uint64_t root_of(std::uint64_t seed, std::uint32_t chain) {
  return QuickStream::root(seed, Purpose::bart_chain, chain);
}

}  // namespace

void check_bart(const BartRows& rows, const BartOptions& options) {
  const std::size_t n = rows.columns.n_rows;
  require(n > 0 && rows.target.size() == n, "BART needs a target for each of at least one row");
  require(rows.weight.empty() || (rows.weight.size() == n && !options.is_probit),
          "BART needs a weight for each row, and takes none with probit");
  for (const double y : rows.target) {
    require(options.is_probit ? y == 0.0 || y == 1.0 : std::abs(y) <= 1.0,
            "a target is beyond what BART scales it to");
  }
  for (const double w : rows.weight)
    require(w > 0.0 && std::isfinite(w), "a weight is not positive");
  require(rows.columns.n_features() <= PackedNode::kMostFeatures,
          "BART takes at most 1,048,576 columns");
  require(options.n_trees > 0 && options.n_draws > 0 && options.n_chains > 0,
          "BART needs a tree, a draw and a chain");
  require(options.split.alpha > 0.0 && options.split.alpha < 1.0 && options.split.beta >= 0.0,
          "a node splits with probability alpha (1 + depth)^-beta, 0 < alpha < 1, beta >= 0");
  double sum = 0.0;
  for (const double share : options.moves) {
    require(share >= 0.0, "a share of moves is negative");
    sum += share;
  }
  require(options.moves[0] > 0.0 && options.moves[1] > 0.0 && std::isfinite(sum),
          "trees must grow and be pruned");
  require(options.leaf_sd > 0.0 && options.nu >= 1.0 && options.lambda > 0.0 &&
              options.sigma > 0.0 && std::isfinite(options.offset),
          "a prior of BART is not one");
}

double bart_unit(const BartOptions& options) {
  const double m = static_cast<double>(options.n_trees);
  const double reach = std::max(16.0, 8.0 * m * options.leaf_sd);
  return std::ldexp(1.0, std::ilogb(reach) + 1 - 30);
}

BartChain::BartChain(const BartRows& rows, const BartOptions& options, std::uint64_t seed,
                     std::uint32_t number)
    : rows_(rows),
      options_(options),
      prior_(rows.columns, options.split),
      unit_(bart_unit(options)),
      root_(root_of(seed, number)),
      stream_(root_, 0),
      members_(options.n_trees),
      residual_(rows.columns.n_rows),
      sigma_(options.sigma) {
  const std::size_t n = rows.columns.n_rows;
  for (Member& member : members_) {
    member.leaf = LeafNumbers(n);
    member.n_rows[0] = n;
    member.log_prior = prior_.log_tree(member.tree);
  }
  if (options.is_probit) {
    target_.resize(n);
    draw_latent();
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      residual_[i] = static_cast<std::int32_t>(draw_in_units(rows.target[i], unit_));
    }
    target_ = residual_;
  }
}

void BartChain::sweep() {
  stream_ = QuickStream(root_, ++n_sweeps_);
  for (Member& member : members_) step(member);
  finish_residuals();
  if (options_.is_probit) draw_latent();
}

void BartChain::step(Member& member) {
  const auto choices_of = [&](const SampledTree& tree, const auto& n_rows) {
    return move_choices(tree, prior_, options_.moves, n_rows, options_.min_samples_leaf);
  };
  const MoveChoices before = choices_of(member.tree, member.n_rows);
  Proposal proposal = propose(member.tree, before, prior_, stream_);
  const double log_prior = proposal.move == Move::none ? -std::numeric_limits<double>::infinity()
                                                       : prior_.log_tree(proposal.tree);
  const bool is_possible = std::isfinite(log_prior) && sort_candidates(member, proposal);
  if (proposal.move != Move::none) ++counts_.tried[static_cast<std::size_t>(proposal.move)];
  sum_rows(member, proposal, is_possible);
  before_ = &member;
  if (is_possible) {
    const MoveChoices after = choices_of(proposal.tree, candidate_rows_);
    const double log_ratio = log_likelihood(proposal.tree, candidate_sums_) -
                             log_likelihood(member.tree, sums_) + log_prior - member.log_prior +
                             log_transition_ratio(proposal, before, after);
    if (stable_log(1.0 - stream_.uniform()) <= log_ratio) {
      ++counts_.taken[static_cast<std::size_t>(proposal.move)];
      member.log_prior = log_prior;
      take(member, std::move(proposal));
      std::swap(sums_, candidate_sums_);
    }
  }
  draw_leaves(member, sums_);
}

// Leaf numbers and counts of rows in the proposed tree; false where a leaf has too few.
bool BartChain::sort_candidates(const Member& member, const Proposal& proposal) {
  const SampledTree& tree = proposal.tree;
  candidate_rows_ = member.n_rows;
  if (proposal.move == Move::prune) {
    const SampledNode& pruned = member.tree[proposal.node];
    candidate_rows_[member.tree[pruned.left].leaf] += member.n_rows[member.tree[pruned.right].leaf];
    return true;
  }
  candidate_ = member.leaf;
  const std::uint8_t first = member.tree.leftmost_leaf(proposal.node);
  for (const Slot slot : member.tree.preorder(proposal.node)) {
    const SampledNode& node = member.tree[slot];
    if (node.is_leaf() && node.leaf != first) move_rows(candidate_, node.leaf, first);
  }
  const std::vector<Slot> below = tree.preorder(proposal.node);
  for (const Slot slot : below) {
    if (tree[slot].is_leaf()) continue;
    const Rule& rule = tree[slot].rule;
    split_rows(candidate_, tree.leftmost_leaf(slot), tree.leftmost_leaf(tree[slot].right),
               rows_.columns[rule.feature], rule);
  }
  return std::all_of(below.begin(), below.end(), [&](Slot slot) {
    if (!tree[slot].is_leaf()) return true;
    std::size_t& n_rows = candidate_rows_[tree[slot].leaf];
    n_rows = count_rows(candidate_, tree[slot].leaf);
    return n_rows >= options_.min_samples_leaf;
  });
}

// Residuals without the other trees, and their sums by the leaves of this one and of the proposed one.
void BartChain::sum_rows(const Member& member, const Proposal& proposal, bool is_possible) {
  const LeafValues& minus = before_ == nullptr ? kZeros : before_->value;
  const LeafNumbers& before = before_ == nullptr ? member.leaf : before_->leaf;
  const std::size_t n_numbers = std::max(member.tree.n_numbers(), proposal.tree.n_numbers());
  // The sums of one leaf of the first table are those of two leaves of the second.
  const auto merge = [&](LeafSumTable& into, const LeafSumTable& from, const SampledTree& larger) {
    const std::uint8_t left = larger[larger[proposal.node].left].leaf;
    const std::uint8_t right = larger[larger[proposal.node].right].leaf;
    std::copy_n(from.begin(), n_numbers, into.begin());
    into[left].weight += from[right].weight;
    into[left].residual += from[right].residual;
  };
  if (is_possible && proposal.move == Move::grow) {
    const SampledTree& grown = proposal.tree;
    LeafValues plus = member.value;
    plus[grown[grown[proposal.node].right].leaf] = plus[grown[grown[proposal.node].left].leaf];
    advance(residual_, before, minus, candidate_, plus, rows_.weight, n_numbers, candidate_sums_);
    merge(sums_, candidate_sums_, grown);
    return;
  }
  advance(residual_, before, minus, member.leaf, member.value, rows_.weight, n_numbers, sums_);
  if (is_possible && proposal.move == Move::prune) {
    merge(candidate_sums_, sums_, member.tree);
  } else if (is_possible) {
    sum_by_leaf(residual_, candidate_, rows_.weight, n_numbers, candidate_sums_);
  }
}

double BartChain::log_likelihood(const SampledTree& tree, const LeafSumTable& sums) const {
  const double variance = sigma_ * sigma_;
  const double prior = options_.leaf_sd * options_.leaf_sd;
  double sum = 0.0;
  for (const Slot slot : tree.preorder()) {
    if (!tree[slot].is_leaf()) continue;
    const LeafSums& leaf = sums[tree[slot].leaf];
    const double total = variance + leaf.weight * prior;
    const double s = leaf.residual * unit_;
    sum += 0.5 * stable_log(variance / total) + prior * s * s / (2.0 * variance * total);
  }
  return sum;
}

void BartChain::take(Member& member, Proposal&& proposal) {
  if (proposal.move == Move::prune) {
    const SampledNode& pruned = member.tree[proposal.node];
    const std::uint8_t gone = member.tree[pruned.right].leaf;
    move_rows(member.leaf, gone, member.tree[pruned.left].leaf);
    candidate_rows_[gone] = 0;
  } else {
    std::swap(member.leaf, candidate_);
  }
  member.n_rows = candidate_rows_;
  member.tree = std::move(proposal.tree);
}

void BartChain::draw_leaves(Member& member, const LeafSumTable& sums) {
  const double variance = sigma_ * sigma_;
  const double prior = options_.leaf_sd * options_.leaf_sd;
  for (const Slot slot : member.tree.preorder()) {
    if (!member.tree[slot].is_leaf()) continue;
    const std::uint8_t leaf = member.tree[slot].leaf;
    const double total = variance + sums[leaf].weight * prior;
    const double mean = prior * sums[leaf].residual * unit_ / total;
    const double sd = std::sqrt(variance * prior / total);
    const double mu = mean + sd * draw_normal(stream_);
    member.value[leaf] = static_cast<std::int32_t>(draw_in_units(mu, unit_));
  }
}

// The residuals of all trees; from them sigma, unless it is known.
void BartChain::finish_residuals() {
  const Member& last = *before_;
  constexpr std::size_t kSums = 4;
  double squares[kSums] = {};
  std::int64_t units = 0;
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    std::int32_t& r = residual_[i];
    r -= last.value[last.leaf[i]];
    largest = std::max(largest, std::abs(r));
    units += target_[i] - r;
    const double x = r;
    squares[i % kSums] += rows_.weight.empty() ? x * x : rows_.weight[i] * x * x;
  }
  if (largest > static_cast<std::int32_t>(kMostUnits)) {
    throw Error(ErrorKind::internal, "residuals of BART left the range of its units");
  }
  before_ = nullptr;
  const auto n = static_cast<double>(residual_.size());
  mean_fit_ = static_cast<double>(units) / n * unit_;
  if (options_.is_probit || options_.sigma_is_known) return;
  const double sum = ((squares[0] + squares[1]) + (squares[2] + squares[3])) * unit_ * unit_;
  const double degrees = options_.nu + n;
  sigma_ = std::sqrt((options_.nu * options_.lambda + sum) / draw_chi_square(stream_, degrees));
}

void BartChain::draw_latent() {
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    const std::int32_t fit = n_sweeps_ == 0 ? 0 : target_[i] - residual_[i];
    const double mean = options_.offset + fit * unit_;
    const bool is_one = rows_.target[i] != 0.0;
    const double above = draw_normal_above(stream_, is_one ? -mean : mean);
    const double off = is_one ? above : -above;  // latent = mean + off
    residual_[i] = static_cast<std::int32_t>(draw_in_units(off, unit_));
    target_[i] = fit + residual_[i];
  }
}

void BartChain::append_draw(std::vector<std::int64_t>& nodes) const {
  double reach = 0.0;
  for (const Member& member : members_) {
    const std::vector<Slot>& slots = member.tree.preorder();
    std::int32_t largest = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const SampledNode& node = member.tree[slots[i]];
      if (node.is_leaf()) {
        nodes.push_back(PackedNode::leaf(member.value[node.leaf]).bits());
        largest = std::max(largest, std::abs(member.value[node.leaf]));
        continue;
      }
      const auto right = std::find(slots.begin(), slots.end(), node.right) - slots.begin();
      const auto to_right = static_cast<std::int64_t>(right) - static_cast<std::int64_t>(i);
      nodes.push_back(PackedNode::inner(node.rule, to_right).bits());
    }
    reach += largest;
  }
  if (reach > static_cast<double>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(ErrorKind::internal, "the trees of BART left the range of their units");
  }
}

}  // namespace arboleda
