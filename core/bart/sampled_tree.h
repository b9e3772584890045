// A tree of the sampler: it grows, shrinks and changes its rules.
//
// Nodes stand in slots, the root in slot 0. A leaf has a number from 0 to 255, the smallest that was
// free when it was made; rows know their leaf by this number.
#pragma once

#include <cstdint>
#include <vector>

#include "bart/rule_columns.h"

namespace arboleda {

using Slot = std::int32_t;

inline constexpr std::size_t kMostBartLeaves = 256;

struct SampledNode {
  Slot parent = -1;
  Slot left = -1;  // -1: a leaf
  Slot right = -1;
  std::int32_t depth = 0;
  std::uint8_t leaf = 0;  // number of the leaf
  Rule rule;              // of an inner node

  bool is_leaf() const { return left < 0; }
};

class SampledTree {
 public:
  SampledTree() : nodes_(1), used_(1, true) {}

  const SampledNode& operator[](Slot slot) const { return nodes_[index(slot)]; }
  std::size_t n_leaves() const { return n_leaves_; }
  std::size_t n_numbers() const;  // one more than the largest number of a leaf

  // Slots in preorder, left before right: of the whole tree, or of what is below a node and itself.
  const std::vector<Slot>& preorder() const;
  std::vector<Slot> preorder(Slot from) const;

  // A leaf becomes an inner node; its left child keeps the leaf's number. Not with 256 leaves.
  void grow(Slot leaf, const Rule& rule);
  // An inner node whose children are leaves becomes a leaf with the number of its left child.
  void prune(Slot node);
  void set_rule(Slot node, const Rule& rule) { nodes_[index(node)].rule = rule; }

  // The number of the leftmost leaf below a node.
  std::uint8_t leftmost_leaf(Slot node) const;
  bool has_two_leaves(Slot node) const {
    const SampledNode& n = (*this)[node];
    return !n.is_leaf() && (*this)[n.left].is_leaf() && (*this)[n.right].is_leaf();
  }

 private:
  static std::size_t index(Slot slot) { return static_cast<std::size_t>(slot); }
  Slot take_slot();
  std::uint8_t free_leaf_number() const;

  std::vector<SampledNode> nodes_;
  std::vector<bool> used_;
  std::size_t n_leaves_ = 1;
  mutable std::vector<Slot> preorder_;  // empty: to be made
};

}  // namespace arboleda
