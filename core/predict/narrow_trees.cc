#include "predict/narrow_trees.h"

#include <algorithm>
#include <bit>

#include "data/round_down.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

// NaN of a leaf's number.
void name_leaf(std::size_t number, float& threshold) {
  threshold = std::bit_cast<float>(0x7FC00000u | static_cast<std::uint32_t>(number));
}
void name_leaf(std::size_t number, double& threshold) {
  threshold = std::bit_cast<double>(std::uint64_t{0x7FF80000} << 32 | number);
}

// Hardly a leaf of a deep tree is nearer to the root than the first steps go; later a few steps are made
// between looking who has come to a leaf.
constexpr int kFirstSteps = 8, kSteps = 4;

template <bool kMissing, class Number>
std::uint32_t step(const NarrowNode<Number>* nodes, std::uint32_t at, const Number* row) {
  const NarrowNode<Number> node = nodes[at];
  const Number x = row[node.column()];
  std::uint32_t left = x <= node.threshold ? 1 : 0;
  if constexpr (kMissing) left |= static_cast<std::uint32_t>(x != x) & node.missing_left();
  return at + choose(left != 0, 1, node.away());
}

template <bool kMissing, class Number>
void take_steps(const NarrowNode<Number>* nodes, int n_steps, const Number* numbers,
                std::size_t width, Walker* walkers) {
  std::uint32_t at[kLanes];
  const Number* row[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    at[i] = walkers[i].at;
    row[i] = numbers + static_cast<std::size_t>(walkers[i].row) * width;
  }
  for (int s = 0; s < n_steps; ++s) {
    for (std::size_t i = 0; i < kLanes; ++i) at[i] = step<kMissing>(nodes, at[i], row[i]);
  }
  for (std::size_t i = 0; i < kLanes; ++i) walkers[i].at = at[i];
}

// Notes where the walkers are; returns how many are not in a leaf, which come to the front.
template <LeavesAs kLeavesAs, class Number>
std::size_t drop_arrived(const NarrowNode<Number>* nodes, std::size_t n, Walker* walkers,
                         std::uint32_t* leaf) {
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto walker = walkers[i];
    const NarrowNode<Number> node = nodes[walker.at];
    leaf[walker.row] = kLeavesAs == LeavesAs::nodes ? walker.at : node.leaf_number();
    walkers[n_left] = walker;
    n_left += node.is_leaf() ? std::size_t{0} : std::size_t{1};
  }
  return n_left;
}

template <bool kMissing, LeavesAs kLeavesAs, class Number>
void walk_all(const NarrowNode<Number>* nodes, const Number* numbers, std::size_t width,
              std::vector<Walker>& walkers, std::span<std::uint32_t> leaf) {
  walkers.resize(leaf.size() + kLanes);
  for (std::size_t i = 0; i < leaf.size(); ++i) walkers[i] = {static_cast<std::uint32_t>(i), 0};
  int n_steps = kFirstSteps;
  for (std::size_t n = leaf.size(); n > 0; n_steps = kSteps) {
    std::fill_n(&walkers[n], kLanes, walkers[n - 1]);  // a full last group
    for (std::size_t i = 0; i < n; i += kLanes) {
      take_steps<kMissing>(nodes, n_steps, numbers, width, &walkers[i]);
    }
    n = drop_arrived<kLeavesAs>(nodes, n, walkers.data(), leaf.data());
  }
}

template <bool kMissing, class Number>
void walk_as(LeavesAs leaves_as, const NarrowNode<Number>* nodes, const Number* numbers,
             std::size_t width, std::vector<Walker>& walkers, std::span<std::uint32_t> leaf) {
  if (leaves_as == LeavesAs::nodes) {
    walk_all<kMissing, LeavesAs::nodes>(nodes, numbers, width, walkers, leaf);
  } else {
    walk_all<kMissing, LeavesAs::numbers>(nodes, numbers, width, walkers, leaf);
  }
}

}  // namespace

bool can_be_narrow(const CompactTree& tree, FeatureIndex n_features) {
  using Node = NarrowNode<float>;
  return static_cast<std::size_t>(n_features) <= Node::kColumn + std::size_t{1} &&
         tree.n_nodes() <= Node::kAway && tree.category.empty();
}

template <class Number>
std::vector<NarrowNode<Number>> narrow(const CompactTree& tree) {
  using Node = NarrowNode<Number>;
  std::vector<Node> nodes;
  nodes.reserve(tree.n_nodes());
  for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
    const CompactNode& node = tree.nodes[i];
    Number threshold;
    if (node.is_leaf()) {
      name_leaf(node.leaf(), threshold);
      nodes.push_back({threshold, 0});
      continue;
    }
    round_down(node.threshold, threshold);
    const auto away = static_cast<std::uint32_t>(node.right) - static_cast<std::uint32_t>(i);
    const auto column = static_cast<std::uint32_t>(node.feature());
    const std::uint32_t missing_left = node.missing_left() ? 1 : 0;
    nodes.push_back({threshold, missing_left << 31 | column << Node::kAwayBits | away});
  }
  return nodes;
}

template <class Number>
void walk(std::span<const NarrowNode<Number>> tree, LeavesAs leaves_as,
          const RowBlock<Number>& block, std::size_t width, std::vector<Walker>& walkers,
          std::span<std::uint32_t> leaf) {
  const Number* numbers = block.numbers.data();
  if (block.any_missing) {
    walk_as<true>(leaves_as, tree.data(), numbers, width, walkers, leaf);
  } else {
    walk_as<false>(leaves_as, tree.data(), numbers, width, walkers, leaf);
  }
}

template std::vector<NarrowNode<float>> narrow(const CompactTree&);
template std::vector<NarrowNode<double>> narrow(const CompactTree&);
template void walk(std::span<const NarrowNode<float>>, LeavesAs, const RowBlock<float>&,
                   std::size_t, std::vector<Walker>&, std::span<std::uint32_t>);
template void walk(std::span<const NarrowNode<double>>, LeavesAs, const RowBlock<double>&,
                   std::size_t, std::vector<Walker>&, std::span<std::uint32_t>);

}  // namespace arboleda
