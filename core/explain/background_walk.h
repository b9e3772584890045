// The walk of one row and a set of background rows through a tree (interventional.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "explain/additive_trees.h"

namespace arboleda {

// Which background rows go left at the nodes of a tree: bit b of the words of a node.
class BackgroundBits {
 public:
  // goes_left(node, b): for inner nodes.
  template <class GoesLeft>
  void set(const AdditiveTree& tree, std::size_t n_rows, const GoesLeft& goes_left) {
    n_words_ = (n_rows + 63) / 64;
    words_.assign(tree.nodes.size() * n_words_, 0);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      if (tree.nodes[node].is_leaf()) continue;
      std::uint64_t* own = words_.data() + node * n_words_;
      for (std::size_t b = 0; b < n_rows; ++b) {
        own[b / 64] |= std::uint64_t{goes_left(node, b)} << b % 64;
      }
    }
  }

  std::size_t n_words() const { return n_words_; }
  const std::uint64_t* lefts(std::size_t node) const { return words_.data() + node * n_words_; }

 private:
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> words_;
};

class BackgroundWalk {
 public:
  BackgroundWalk(std::span<const std::uint32_t> player, std::size_t n_players, std::size_t n_rows);

  // Adds what players get from a tree to values: players x n_outputs. child(node): where the row goes.
  template <class Child>
  void add(const AdditiveTree& tree, const BackgroundBits& bits, const Child& child,
           std::size_t n_outputs, double* values);

 private:
  enum class Side : std::uint8_t { none, in, out };

  // A node to go to, with the set that stands on top of sets_; or the end of the way below a node, where a
  // player's side is forgotten.
  struct Visit {
    std::size_t node;
    std::uint32_t player;
    Side side;  // that the player takes on the way there
    bool ends;
  };

  std::vector<std::uint32_t>& members(Side side) { return side == Side::in ? in_ : out_; }
  void push(std::size_t node, std::uint32_t player, Side side);
  void take(const Visit& visit);
  void forget(const Visit& visit);
  void give(const AdditiveTree& tree, std::size_t leaf, std::size_t n_outputs, double* values);
  void split(const AdditiveTree& tree, const BackgroundBits& bits, std::size_t node,
             std::size_t to);

  std::span<const std::uint32_t> player_;  // of columns
  double n_rows_;
  std::vector<std::uint64_t> all_;   // the set of all rows
  std::vector<std::uint64_t> own_;   // of the visit at hand
  std::vector<std::uint64_t> part_;  // of the next one
  std::vector<std::uint64_t> sets_;
  std::vector<Visit> visits_;
  std::vector<Side> side_;  // of players
  std::vector<std::uint32_t> in_, out_;
};

template <class Child>
void BackgroundWalk::add(const AdditiveTree& tree, const BackgroundBits& bits, const Child& child,
                         std::size_t n_outputs, double* values) {
  part_ = all_;
  push(0, 0, Side::none);
  while (!visits_.empty()) {
    const Visit visit = visits_.back();
    visits_.pop_back();
    if (visit.ends) {
      forget(visit);
      continue;
    }
    take(visit);
    if (tree.nodes[visit.node].is_leaf()) {
      give(tree, visit.node, n_outputs, values);
    } else {
      split(tree, bits, visit.node, child(visit.node));
    }
  }
}

}  // namespace arboleda
