// Shapley values of a tree in one walk through it.
//
// A game: the players are columns; of a coalition S of players, the value is the mean of the tree's
// leaves over the training rows wherever a node tests a player outside S, and follows the row where
// it tests one of S: Lundberg, Erion & Lee (2018), "Consistent individualized feature attribution for
// tree ensembles", algorithm 1. A leaf of value v whose path tests the players 1 .. D gives to that
//
//   v prod_{j in S} o_j prod_{j not in S} z_j
//
// with o_j = 1 where the row passes all edges of player j and 0 else, and z_j the product of the shares
// of the training rows on these edges. Where every player is in with probability t, the leaf gives
// v prod_j a_j(t), a_j(t) = (1 - t) z_j + t o_j, and what player i gets is the integral of the slope
// (Owen (1972), "Multilinear extensions of games", equation 10):
//
//   phi_i = v (o_i - z_i) integral_0^1 prod_{j != i} a_j(t) dt
//
// The integrand has degree D - 1: Gauss and Legendre's rule with D / 2 points is exact. All its terms are
// of one sign, and prod_j a_j(t), summed over all leaves, is 1. So one walk down carries the products
// at all points, and one back up the sums of v times the product over the leaves below; an edge of player
// i turns these sums into the share of i. It counts leaves whose path tests i again further down, too,
// whose edges then take that back: this way of adding along edges is that of Yu, Bifet, Read & Xu (2022),
// "Linear TreeSHAP".
//
//   edge of player i with shares z, below an edge of i with shares y (1 where there is none), A = a of
//   a passed edge with z, B = a of one with y, at the point t:
//
//       row                     product times     share of i in the sum
//       passes                  A / B             (y - z) / (A B)
//       fails here              z (1 - t) / B     -1 / ((1 - t) B)
//       failed further up       z / y             0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "explain/additive_trees.h"
#include "explain/quadrature.h"
#include "simd/shap_kernels.h"

namespace arboleda {

// The columns that are tested, in the order in which a group of rows has them.
struct TestedColumns {
  std::vector<std::size_t> column;   // of the table
  std::vector<std::uint32_t> place;  // of each column of the table that is tested
};

TestedColumns tested_columns(const AdditiveTrees& trees);

// A player of whom it is settled whether he is in: the others play the game that is left.
struct FixedPlayer {
  enum class Is : std::uint8_t { open, in, out };
  Is is = Is::open;  // open: all players play
  std::uint32_t player = 0;
};

// What it takes to explain one output of one tree.
class ShapSteps {
 public:
  // player: of each column.
  void plan(const AdditiveTree& tree, std::span<const std::uint32_t> player,
            std::span<const std::uint32_t> place);

  // Leaves are worth their values of the output k times `scale`. To be called after plan(), and again for
  // every other game on the same tree.
  void set_game(const AdditiveTree& tree, std::size_t k, double scale, FixedPlayer settled = {});

  std::span<const ShapStep> steps() const { return steps_; }
  std::span<const std::uint32_t> players() const { return players_; }  // of the tree, ascending
  const Quadrature& quadrature() const { return quadrature_; }
  std::size_t n_levels() const { return n_levels_; }

 private:
  // What the factors of a step follow from: the leaf, or the left one of two, and the shares of training
  // rows on the edges of its player.
  struct Edge {
    std::size_t child;
    double share, share_above;
    bool is_pair;
  };
  struct Path;

  void add_test(const AdditiveTree& tree, std::size_t node, std::uint32_t level,
                std::span<const std::uint32_t> place);
  void walk(const AdditiveTree& tree, std::span<const std::uint32_t> player,
            std::span<const std::uint32_t> place);
  void go_down(const AdditiveTree& tree, std::span<const std::uint32_t> player,
               std::span<const std::uint32_t> place, Path& path);
  void go_up(Path& path);

  std::vector<ShapStep> steps_;
  std::vector<std::uint32_t> players_;
  std::vector<Edge> edges_;  // of steps; unused for steps of kind `test`
  std::vector<double> factors_;
  std::vector<std::uint64_t> categories_;  // bits, of all nodes
  std::vector<std::size_t> first_word_;    // of steps that test categories
  Quadrature quadrature_;
  std::size_t n_levels_ = 0;
  std::size_t most_players_ = 0;  // on the way to a leaf
};

}  // namespace arboleda
