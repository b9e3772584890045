// For tests: Shapley values and their interaction by the definition, over all sets of players.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "explain/additive_trees.h"

namespace arboleda {

// What a game pays to a set of players, as bits.
using Game = std::function<double(std::uint32_t players)>;

inline double factorial(int n) { return n < 2 ? 1.0 : n * factorial(n - 1); }

// Shapley (1953), equation 12.
inline std::vector<double> naive_shapley(const Game& game, std::size_t n_players) {
  std::vector<double> values(n_players, 0.0);
  const auto n = static_cast<int>(n_players);
  for (std::uint32_t set = 0; set < 1u << n_players; ++set) {
    const int size = std::popcount(set);
    for (std::size_t i = 0; i < n_players; ++i) {
      if ((set >> i & 1) != 0) continue;
      const double weight = factorial(size) * factorial(n - size - 1) / factorial(n);
      values[i] += weight * (game(set | 1u << i) - game(set));
    }
  }
  return values;
}

// Half of the interaction index of Grabisch & Roubens (1999), each pair twice; the diagonal is 0.
inline std::vector<double> naive_interactions(const Game& game, std::size_t n_players) {
  std::vector<double> shared(n_players * n_players, 0.0);
  const auto n = static_cast<int>(n_players);
  for (std::uint32_t set = 0; set < 1u << n_players; ++set) {
    const int size = std::popcount(set);
    for (std::size_t i = 0; i < n_players; ++i) {
      for (std::size_t j = 0; j < n_players; ++j) {
        const std::uint32_t one = 1u << i, other = 1u << j;
        if (i == j || (set & (one | other)) != 0) continue;
        const double weight = factorial(size) * factorial(n - size - 2) / (2 * factorial(n - 1));
        shared[i * n_players + j] +=
            weight * (game(set | one | other) - game(set | one) - game(set | other) + game(set));
      }
    }
  }
  return shared;
}

// Expectation by the weights of nodes: Lundberg, Erion & Lee (2018), algorithm 1.
inline double conditional_mean(const AdditiveTree& tree, std::size_t node,
                               const std::vector<double>& row,
                               const std::vector<std::uint32_t>& player, std::uint32_t known) {
  const AdditiveNode& own = tree.nodes[node];
  if (own.is_leaf()) return tree.value_of(node, 0);
  const auto feature = static_cast<std::size_t>(own.feature);
  if ((known >> player[feature] & 1) != 0) {
    return conditional_mean(tree, tree.child(node, row[feature]), row, player, known);
  }
  const double share = tree.left_share(node);
  return share * conditional_mean(tree, node + 1, row, player, known) +
         (1.0 - share) *
             conditional_mean(tree, static_cast<std::size_t>(own.right), row, player, known);
}

}  // namespace arboleda
