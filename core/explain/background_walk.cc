#include "explain/background_walk.h"

#include <algorithm>
#include <bit>

namespace arboleda {

namespace {

// (a-1)! b! / (a+b)!, a >= 1.
double share_of_one(std::size_t a, std::size_t b) {
  double share = 1.0 / static_cast<double>(a);
  for (std::size_t i = 1; i <= b; ++i) {
    share *= static_cast<double>(i) / static_cast<double>(a + i);
  }
  return share;
}

}  // namespace

BackgroundWalk::BackgroundWalk(std::span<const std::uint32_t> player, std::size_t n_players,
                               std::size_t n_rows)
    : player_(player),
      n_rows_(static_cast<double>(n_rows)),
      all_((n_rows + 63) / 64, ~std::uint64_t{0}),
      own_(all_.size()),
      part_(all_.size()),
      side_(n_players, Side::none) {
  if (n_rows % 64 != 0) all_.back() = (std::uint64_t{1} << n_rows % 64) - 1;
}

// Where some rows of part_ go.
void BackgroundWalk::push(std::size_t node, std::uint32_t player, Side side) {
  if (std::all_of(part_.begin(), part_.end(), [](std::uint64_t word) { return word == 0; })) return;
  visits_.push_back({node, player, side, false});
  sets_.insert(sets_.end(), part_.begin(), part_.end());
}

void BackgroundWalk::take(const Visit& visit) {
  const auto begin = sets_.end() - static_cast<std::ptrdiff_t>(own_.size());
  std::copy(begin, sets_.end(), own_.begin());
  sets_.erase(begin, sets_.end());
  if (visit.side == Side::none) return;
  side_[visit.player] = visit.side;
  members(visit.side).push_back(visit.player);
  visits_.push_back({visit.node, visit.player, visit.side, true});
}

void BackgroundWalk::forget(const Visit& visit) {
  side_[visit.player] = Side::none;
  members(visit.side).pop_back();
}

// What the rows of own_ bring to a leaf.
void BackgroundWalk::give(const AdditiveTree& tree, std::size_t leaf, std::size_t n_outputs,
                          double* values) {
  int n_rows = 0;
  for (const std::uint64_t word : own_) n_rows += std::popcount(word);
  const double weight = n_rows / n_rows_;
  const auto give_to = [&](const std::vector<std::uint32_t>& players, double share) {
    for (const std::uint32_t player : players) {
      double* own = values + player * n_outputs + tree.first_output;
      for (std::size_t k = 0; k < tree.width; ++k) own[k] += share * tree.value_of(leaf, k);
    }
  };
  if (!in_.empty()) give_to(in_, weight * share_of_one(in_.size(), out_.size()));
  if (!out_.empty()) give_to(out_, -weight * share_of_one(out_.size(), in_.size()));
}

// On from an inner node, whose child `to` the row goes to.
void BackgroundWalk::split(const AdditiveTree& tree, const BackgroundBits& bits, std::size_t node,
                           std::size_t to) {
  const std::size_t left = node + 1;
  const auto right = static_cast<std::size_t>(tree.nodes[node].right);
  const std::size_t other = to == left ? right : left;
  const std::uint32_t player = player_[static_cast<std::size_t>(tree.nodes[node].feature)];
  const std::uint64_t* lefts = bits.lefts(node);
  // The rows of the set that go to a child.
  const auto set_part = [&](std::size_t child) {
    for (std::size_t w = 0; w < own_.size(); ++w) {
      part_[w] = own_[w] & (child == left ? lefts[w] : ~lefts[w]);
    }
  };
  const Side side = side_[player];
  if (side == Side::in) {
    part_ = own_;
    push(to, player, Side::none);
    return;
  }
  set_part(to);
  push(to, player, Side::none);
  set_part(other);
  if (side == Side::out) {
    push(other, player, Side::none);
    return;
  }
  push(to, player, Side::in);
  push(other, player, Side::out);
}

}  // namespace arboleda
