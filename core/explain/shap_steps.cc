#include "explain/shap_steps.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace arboleda {

namespace {

using Factors = std::array<double, kShapFactors>;

// Of an edge with shares `share` below `above`, at the point t. To a leaf, of value 1, the share of its
// player is of the product above the edge, not of that below.
Factors factors_of(double t, double share, double above, bool is_leaf) {
  const double kept = above > 0.0 ? share / above : 0.0;
  const double passed = share * (1.0 - t) + t, whole = above * (1.0 - t) + t;
  const double failed = share * (1.0 - t);
  if (is_leaf) {
    return {passed / whole, failed / whole, kept, (above - share) / (whole * whole),
            -share / (whole * whole)};
  }
  return {passed / whole, failed / whole, kept, (above - share) / (passed * whole),
          -1.0 / ((1.0 - t) * whole)};
}

// Of an edge whose player plays no part.
Factors factors_of(FixedPlayer::Is settled, double share, double above) {
  if (settled == FixedPlayer::Is::in) return {1.0, 0.0, 0.0, 0.0, 0.0};
  const double kept = above > 0.0 ? share / above : 0.0;
  return {kept, kept, kept, 0.0, 0.0};
}

// Of both edges of a node with two leaves, in the order of the left one.
Factors pair_factors(const Factors& left, double value, const Factors& right, double other) {
  return {value * left[0] + other * right[1], value * left[1] + other * right[0],
          value * left[2] + other * right[2], value * left[3] + other * right[4],
          value * left[4] + other * right[3]};
}

}  // namespace

TestedColumns tested_columns(const AdditiveTrees& trees) {
  TestedColumns tested{{}, std::vector<std::uint32_t>(trees.n_columns(), 0)};
  std::vector<bool> is_tested(trees.n_columns(), false);
  AdditiveTree tree;
  for (std::size_t t = 0; t < trees.n_trees(); ++t) {
    trees.read(t, tree);
    for (const AdditiveNode& node : tree.nodes) {
      if (!node.is_leaf()) is_tested[static_cast<std::size_t>(node.feature)] = true;
    }
  }
  for (std::size_t j = 0; j < trees.n_columns(); ++j) {
    if (!is_tested[j]) continue;
    tested.place[j] = static_cast<std::uint32_t>(tested.column.size());
    tested.column.push_back(j);
  }
  return tested;
}

// The way from the root to where the walk is: one frame a level.
struct ShapSteps::Path {
  struct Frame {
    std::size_t node;
    ShapStep edge;  // from the node above to this one, on the way back
    Edge shares;
    int n_done = 0;         // children that were walked through
    bool has_sums = false;  // something was added to its sums
  };
  std::vector<Frame> frames;
  std::vector<std::uint32_t> last_level;  // of each player: below its nearest edge; 0: none
  std::size_t n_players = 0;              // on the way
};

void ShapSteps::add_test(const AdditiveTree& tree, std::size_t node, std::uint32_t level,
                         std::span<const std::uint32_t> place) {
  const AdditiveNode& own = tree.nodes[node];
  ShapStep step{};
  step.kind = ShapStepKind::test;
  step.level = level;
  step.column = place[static_cast<std::size_t>(own.feature)];
  step.threshold = own.threshold;
  step.missing_left = own.missing_left;
  if (!own.categories.empty()) {
    const std::size_t first = categories_.size();
    const std::size_t n_words = std::size_t{own.categories.back()} / 64 + 1;
    categories_.resize(first + n_words, 0);
    for (const CategoryIndex category : own.categories) {
      categories_[first + category / 64] |= std::uint64_t{1} << category % 64;
    }
    step.n_categories = 64 * n_words;
    first_word_.push_back(first);
  }
  steps_.push_back(step);
  edges_.push_back({});
}

void ShapSteps::plan(const AdditiveTree& tree, std::span<const std::uint32_t> player,
                     std::span<const std::uint32_t> place) {
  steps_.clear();
  edges_.clear();
  categories_.clear();
  first_word_.clear();
  players_.clear();
  n_levels_ = 1;
  most_players_ = 1;
  if (tree.nodes[0].is_leaf()) return;
  walk(tree, player, place);
  for (const AdditiveNode& node : tree.nodes) {
    if (!node.is_leaf()) players_.push_back(player[static_cast<std::size_t>(node.feature)]);
  }
  std::sort(players_.begin(), players_.end());
  players_.erase(std::unique(players_.begin(), players_.end()), players_.end());
  const std::size_t n_points = (most_players_ + 1) / 2;
  if (quadrature_.point.size() != n_points) quadrature_ = gauss_legendre(n_points);
  factors_.resize(steps_.size() * kShapFactors * n_points);
  std::size_t n_tests = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].factors = factors_.data() + i * kShapFactors * n_points;
    if (steps_[i].n_categories > 0) {
      steps_[i].categories = categories_.data() + first_word_[n_tests++];
    }
  }
}

void ShapSteps::walk(const AdditiveTree& tree, std::span<const std::uint32_t> player,
                     std::span<const std::uint32_t> place) {
  Path path;
  path.last_level.assign(*std::max_element(player.begin(), player.end()) + std::size_t{1}, 0);
  path.frames.push_back({0, {}, {0, 1.0, 1.0, false}});
  add_test(tree, 0, 0, place);
  while (true) {
    if (path.frames.back().n_done < 2) {
      go_down(tree, player, place, path);
    } else if (path.frames.size() > 1) {
      go_up(path);
    } else {
      return;
    }
  }
}

// To the next child of the node where the walk is.
void ShapSteps::go_down(const AdditiveTree& tree, std::span<const std::uint32_t> player,
                        std::span<const std::uint32_t> place, Path& path) {
  const auto level = static_cast<std::uint32_t>(path.frames.size() - 1);
  Path::Frame& frame = path.frames.back();
  const AdditiveNode& node = tree.nodes[frame.node];
  const std::size_t left = frame.node + 1, right = static_cast<std::size_t>(node.right);
  const bool is_pair = tree.nodes[left].is_leaf() && tree.nodes[right].is_leaf();
  ShapStep step{};
  step.level = level;
  step.is_left = frame.n_done == 0;
  step.player = player[static_cast<std::size_t>(node.feature)];
  step.above = path.last_level[step.player];
  const double above = path.frames[step.above].shares.share;
  const double share = tree.left_share(frame.node);
  const Edge edge{step.is_left ? left : right, above * (step.is_left ? share : 1.0 - share), above,
                  is_pair};
  const std::size_t n_players = path.n_players + (step.above == 0 ? 1 : 0);
  const bool is_leaf = tree.nodes[edge.child].is_leaf();
  step.kind = is_leaf ? ShapStepKind::leaf : ShapStepKind::enter;
  step.is_first = is_leaf && !frame.has_sums;
  frame.has_sums |= is_leaf;
  frame.n_done = is_pair ? 2 : frame.n_done + 1;
  steps_.push_back(step);
  edges_.push_back(edge);
  most_players_ = std::max(most_players_, n_players);
  if (is_leaf) return;
  path.last_level[step.player] = level + 1;
  path.n_players = n_players;
  path.frames.push_back({edge.child, step, edge});
  n_levels_ = std::max(n_levels_, path.frames.size());
  add_test(tree, edge.child, level + 1, place);
}

void ShapSteps::go_up(Path& path) {
  const Path::Frame done = path.frames.back();
  path.frames.pop_back();
  Path::Frame& parent = path.frames.back();
  ShapStep step = done.edge;
  step.kind = ShapStepKind::leave;
  step.is_first = !parent.has_sums;
  parent.has_sums = true;
  path.last_level[step.player] = step.above;
  if (step.above == 0) --path.n_players;
  steps_.push_back(step);
  edges_.push_back(done.shares);
}

void ShapSteps::set_game(const AdditiveTree& tree, std::size_t k, double scale,
                         FixedPlayer settled) {
  const std::size_t n = quadrature_.point.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const ShapStep& step = steps_[i];
    if (step.kind == ShapStepKind::test) continue;
    const Edge& edge = edges_[i];
    const bool is_leaf = step.kind == ShapStepKind::leaf;
    const bool plays = settled.is == FixedPlayer::Is::open || step.player != settled.player;
    const auto of_share = [&](double t, double share) {
      return plays ? factors_of(t, share, edge.share_above, is_leaf)
                   : factors_of(settled.is, share, edge.share_above);
    };
    const double value = is_leaf ? tree.value_of(edge.child, k) * scale : 1.0;
    const double other = edge.is_pair ? tree.value_of(edge.child + 1, k) * scale : 0.0;
    for (std::size_t q = 0; q < n; ++q) {
      const double t = quadrature_.point[q];
      const Factors own = of_share(t, edge.share);
      const Factors rest = edge.is_pair ? of_share(t, edge.share_above - edge.share) : Factors{};
      const Factors both = pair_factors(own, value, rest, other);
      for (std::size_t f = 0; f < kShapFactors; ++f) {
        factors_[(i * kShapFactors + f) * n + q] = both[f];
      }
    }
  }
}

}  // namespace arboleda
