#include "predict/narrow_trees.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "data/round_down.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

// NaN of a leaf's number.
float name_of_leaf(std::size_t number) {
  return std::bit_cast<float>(0x7FC00000u | static_cast<std::uint32_t>(number));
}

// Hardly a leaf of a deep tree is nearer to the root than the first steps go; later a few steps are made
// between looking who has come to a leaf.
constexpr int kFirstSteps = 8, kSteps = 4;

// What the walks of a block need beside comparisons: where missing values go, which rows are undecided.
struct Care {
  bool missing, rounded;
};

template <bool kMissing>
std::uint32_t step(const NarrowNode& node, std::uint32_t at, float x) {
  std::uint32_t right = x <= node.threshold ? 0 : 1;
  if constexpr (kMissing) right &= ~(static_cast<std::uint32_t>(x != x) & node.missing_left());
  return at + 1 + ((node.away() - 1) & (0 - right));
}

// Whether the row meets a threshold that it equals on its next steps.
template <bool kMissing>
bool meets_equal(const NarrowNode* nodes, int n_steps, std::uint32_t at, const float* row) {
  bool equal = false;
  for (int s = 0; s < n_steps; ++s) {
    const float x = row[nodes[at].column()];
    equal |= x == nodes[at].threshold;
    at = step<kMissing>(nodes[at], at, x);
  }
  return equal;
}

template <Care kCare>
void take_steps(const NarrowNode* nodes, int n_steps, const float* numbers, std::size_t width,
                Walker* walkers, std::vector<std::uint32_t>& undecided) {
  std::uint32_t at[kLanes];
  const float* row[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    at[i] = walkers[i].at;
    row[i] = numbers + static_cast<std::size_t>(walkers[i].row) * width;
  }
  float nearest = 1.0f;  // to a threshold
  for (int s = 0; s < n_steps; ++s) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const NarrowNode node = nodes[at[i]];
      const float x = row[i][node.column()];
      if constexpr (kCare.rounded) nearest = std::min(nearest, std::abs(x - node.threshold));
      at[i] = step<kCare.missing>(node, at[i], x);
    }
  }
  if (kCare.rounded && nearest == 0.0f) [[unlikely]] {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (meets_equal<kCare.missing>(nodes, n_steps, walkers[i].at, row[i])) {
        undecided.push_back(walkers[i].row);
      }
    }
  }
  for (std::size_t i = 0; i < kLanes; ++i) walkers[i].at = at[i];
}

// Notes where the walkers are; returns how many are not in a leaf, which come to the front.
template <LeavesAs kLeavesAs>
std::size_t drop_arrived(const NarrowNode* nodes, std::size_t n, Walker* walkers,
                         std::uint32_t* leaf) {
  std::size_t n_left = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto walker = walkers[i];
    const NarrowNode node = nodes[walker.at];
    leaf[walker.row] = kLeavesAs == LeavesAs::nodes ? walker.at : node.leaf_number();
    walkers[n_left] = walker;
    n_left += node.is_leaf() ? std::size_t{0} : std::size_t{1};
  }
  return n_left;
}

template <Care kCare, LeavesAs kLeavesAs>
void walk_all(const NarrowNode* nodes, const float* numbers, std::size_t width,
              std::vector<Walker>& walkers, std::span<std::uint32_t> leaf,
              std::vector<std::uint32_t>& undecided) {
  walkers.resize(leaf.size() + kLanes);
  for (std::size_t i = 0; i < leaf.size(); ++i) walkers[i] = {static_cast<std::uint32_t>(i), 0};
  int n_steps = kFirstSteps;
  for (std::size_t n = leaf.size(); n > 0; n_steps = kSteps) {
    std::fill_n(&walkers[n], kLanes, walkers[n - 1]);  // a full last group
    for (std::size_t i = 0; i < n; i += kLanes) {
      take_steps<kCare>(nodes, n_steps, numbers, width, &walkers[i], undecided);
    }
    n = drop_arrived<kLeavesAs>(nodes, n, walkers.data(), leaf.data());
  }
}

template <Care kCare>
void walk_as(LeavesAs leaves_as, const NarrowNode* nodes, const float* numbers, std::size_t width,
             std::vector<Walker>& walkers, std::span<std::uint32_t> leaf,
             std::vector<std::uint32_t>& undecided) {
  const auto as = leaves_as == LeavesAs::nodes ? walk_all<kCare, LeavesAs::nodes>
                                               : walk_all<kCare, LeavesAs::numbers>;
  as(nodes, numbers, width, walkers, leaf, undecided);
}

}  // namespace

bool can_be_narrow(const CompactTree& tree, FeatureIndex n_features) {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  return static_cast<std::size_t>(n_features) <= NarrowNode::kColumn + std::size_t{1} &&
         tree.n_nodes() <= NarrowNode::kAway && tree.category.empty() &&
         std::all_of(tree.nodes.begin(), tree.nodes.end(), [](const CompactNode& node) {
           return node.is_leaf() || node.threshold >= kLowest;
         });
}

std::vector<NarrowNode> narrow(const CompactTree& tree) {
  std::vector<NarrowNode> nodes;
  nodes.reserve(tree.n_nodes());
  for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
    const CompactNode& node = tree.nodes[i];
    if (node.is_leaf()) {
      nodes.push_back({name_of_leaf(node.leaf()), 0});
      continue;
    }
    float threshold;
    round_down(node.threshold, threshold);
    const auto away = static_cast<std::uint32_t>(node.right) - static_cast<std::uint32_t>(i);
    const auto column = static_cast<std::uint32_t>(node.feature());
    const std::uint32_t missing_left = node.missing_left() ? 1 : 0;
    nodes.push_back({threshold, column << NarrowNode::kColumnShift |
                                    missing_left << NarrowNode::kAwayBits | away});
  }
  return nodes;
}

void walk(std::span<const NarrowNode> tree, LeavesAs leaves_as, const RowBlock<float>& block,
          std::size_t width, std::vector<Walker>& walkers, std::span<std::uint32_t> leaf,
          std::vector<std::uint32_t>& undecided) {
  undecided.clear();
  const auto with = [&]<Care kCare>() {
    walk_as<kCare>(leaves_as, tree.data(), block.numbers.data(), width, walkers, leaf, undecided);
  };
  if (block.any_rounded) {
    block.any_missing ? with.template operator()<Care{true, true}>()
                      : with.template operator()<Care{false, true}>();
  } else {
    block.any_missing ? with.template operator()<Care{true, false}>()
                      : with.template operator()<Care{false, false}>();
  }
}

}  // namespace arboleda
