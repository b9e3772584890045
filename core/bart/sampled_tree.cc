#include "bart/sampled_tree.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace arboleda {

std::vector<Slot> SampledTree::preorder(Slot from) const {
  std::vector<Slot> slots;
  std::vector<Slot> open{from};
  while (!open.empty()) {
    const Slot slot = open.back();
    open.pop_back();
    slots.push_back(slot);
    const SampledNode& node = (*this)[slot];
    if (!node.is_leaf()) {
      open.push_back(node.right);
      open.push_back(node.left);
    }
  }
  return slots;
}

const std::vector<Slot>& SampledTree::preorder() const {
  if (preorder_.empty()) preorder_ = preorder(0);
  return preorder_;
}

std::size_t SampledTree::n_numbers() const {
  std::size_t largest = 0;
  for (const Slot slot : preorder()) {
    if ((*this)[slot].is_leaf()) largest = std::max<std::size_t>(largest, (*this)[slot].leaf);
  }
  return largest + 1;
}

void SampledTree::grow(Slot leaf, const Rule& rule) {
  const std::uint8_t number = free_leaf_number();
  const Slot left = take_slot();
  const Slot right = take_slot();
  SampledNode& node = nodes_[index(leaf)];
  nodes_[index(left)] = {leaf, -1, -1, node.depth + 1, node.leaf, {}};
  nodes_[index(right)] = {leaf, -1, -1, node.depth + 1, number, {}};
  node.left = left;
  node.right = right;
  node.rule = rule;
  ++n_leaves_;
  preorder_.clear();
}

void SampledTree::prune(Slot node) {
  SampledNode& pruned = nodes_[index(node)];
  pruned.leaf = (*this)[pruned.left].leaf;
  used_[index(pruned.left)] = used_[index(pruned.right)] = false;
  pruned.left = pruned.right = -1;
  pruned.rule = {};
  --n_leaves_;
  preorder_.clear();
}

std::uint8_t SampledTree::leftmost_leaf(Slot node) const {
  while (!(*this)[node].is_leaf()) node = (*this)[node].left;
  return (*this)[node].leaf;
}

Slot SampledTree::take_slot() {
  const auto free = std::find(used_.begin(), used_.end(), false);
  if (free != used_.end()) {
    *free = true;
    return static_cast<Slot>(free - used_.begin());
  }
  nodes_.emplace_back();
  used_.push_back(true);
  return static_cast<Slot>(nodes_.size() - 1);
}

std::uint8_t SampledTree::free_leaf_number() const {
  std::array<bool, kMostBartLeaves> taken{};
  for (const Slot slot : preorder()) {
    if ((*this)[slot].is_leaf()) taken[(*this)[slot].leaf] = true;
  }
  const auto free = std::find(taken.begin(), taken.end(), false);
  require(free != taken.end(), "a tree of BART has at most 256 leaves");
  return static_cast<std::uint8_t>(free - taken.begin());
}

}  // namespace arboleda
