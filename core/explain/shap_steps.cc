#include "explain/shap_steps.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace arboleda {

namespace {

using Factors = std::array<double, kShapFactors>;

// Of an edge to an inner node, at the point t.
Factors inner_factors(double t, double share, double above) {
  const double passed = share * (1.0 - t) + t, whole = above * (1.0 - t) + t;
  return {passed / whole, share * (1.0 - t) / whole, above > 0.0 ? share / above : 0.0,
          (above - share) / (passed * whole), -1.0 / ((1.0 - t) * whole)};
}

// Of an edge to a leaf of value 1: the share of its player is of the product above the edge.
Factors leaf_factors(double t, double share, double above) {
  const double passed = share * (1.0 - t) + t, whole = above * (1.0 - t) + t;
  return {passed / whole, share * (1.0 - t) / whole, above > 0.0 ? share / above : 0.0,
          (above - share) / (whole * whole), -share / (whole * whole)};
}

// Of both edges of a node with two leaves, in the order of the left one.
Factors pair_factors(const Factors& left, double value, const Factors& right, double other) {
  return {value * left[0] + other * right[1], value * left[1] + other * right[0],
          value * left[2] + other * right[2], value * left[3] + other * right[4],
          value * left[4] + other * right[3]};
}

}  // namespace

AskedColumns asked_columns(const AdditiveTrees& trees) {
  AskedColumns asked{{}, std::vector<std::uint32_t>(trees.n_columns, 0)};
  std::vector<bool> is_asked(trees.n_columns, false);
  AdditiveTree tree;
  for (std::size_t t = 0; t < trees.n_trees; ++t) {
    trees.read(t, tree);
    for (const AdditiveNode& node : tree.nodes) {
      if (!node.is_leaf()) is_asked[static_cast<std::size_t>(node.feature)] = true;
    }
  }
  for (std::size_t j = 0; j < trees.n_columns; ++j) {
    if (!is_asked[j]) continue;
    asked.place[j] = static_cast<std::uint32_t>(asked.column.size());
    asked.column.push_back(j);
  }
  return asked;
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

void ShapSteps::ask(const AdditiveTree& tree, std::size_t node, std::uint32_t level,
                    std::span<const std::uint32_t> place) {
  const AdditiveNode& own = tree.nodes[node];
  ShapStep step{};
  step.act = ShapAct::ask;
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
  n_levels_ = 1;
  std::size_t most_players = 1;
  if (tree.nodes[0].is_leaf()) return;
  Path path;
  path.last_level.assign(*std::max_element(player.begin(), player.end()) + std::size_t{1}, 0);
  path.frames.push_back({0, {}, {0, 1.0, 1.0, false}});
  ask(tree, 0, 0, place);
  while (!path.frames.empty()) {
    const auto level = static_cast<std::uint32_t>(path.frames.size() - 1);
    Path::Frame& frame = path.frames.back();
    const AdditiveNode& node = tree.nodes[frame.node];
    const std::uint32_t own = player[static_cast<std::size_t>(node.feature)];
    if (frame.n_done == 2) {
      const Path::Frame done = frame;
      path.frames.pop_back();
      if (path.frames.empty()) break;
      Path::Frame& parent = path.frames.back();
      ShapStep step = done.edge;
      step.act = ShapAct::leave;
      step.is_first = !parent.has_sums;
      parent.has_sums = true;
      path.last_level[step.player] = step.above;
      if (step.above == 0) --path.n_players;
      steps_.push_back(step);
      edges_.push_back(done.shares);
      continue;
    }
    const std::size_t left = frame.node + 1, right = static_cast<std::size_t>(node.right);
    const bool is_pair =
        frame.n_done == 0 && tree.nodes[left].is_leaf() && tree.nodes[right].is_leaf();
    const bool is_left = frame.n_done == 0;
    frame.n_done = is_pair ? 2 : frame.n_done + 1;
    const std::size_t child = is_left ? left : right;
    ShapStep step{};
    step.level = level;
    step.is_left = is_left;
    step.player = own;
    step.above = path.last_level[own];
    const double above = path.frames[step.above].shares.share;
    const double share = tree.left_share(frame.node);
    const Edge edge{child, above * (is_left ? share : 1.0 - share), above, is_pair};
    const std::size_t n_players = path.n_players + (step.above == 0 ? 1 : 0);
    if (tree.nodes[child].is_leaf()) {
      step.act = ShapAct::leaf;
      step.is_first = !frame.has_sums;
      frame.has_sums = true;
      steps_.push_back(step);
      edges_.push_back(edge);
      most_players = std::max(most_players, n_players);
      continue;
    }
    step.act = ShapAct::enter;
    steps_.push_back(step);
    edges_.push_back(edge);
    path.last_level[own] = level + 1;
    path.n_players = n_players;
    path.frames.push_back({child, step, edge});
    n_levels_ = std::max(n_levels_, path.frames.size());
    ask(tree, child, level + 1, place);
  }
  const std::size_t n_points = (most_players + 1) / 2;
  if (quadrature_.point.size() != n_points) quadrature_ = gauss_legendre(n_points);
  factors_.resize(steps_.size() * kShapFactors * n_points);
  std::size_t n_asked = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    ShapStep& step = steps_[i];
    step.factors = factors_.data() + i * kShapFactors * n_points;
    if (step.act == ShapAct::ask && step.n_categories > 0) {
      step.categories = categories_.data() + first_word_[n_asked++];
    } else if (step.act == ShapAct::enter || step.act == ShapAct::leave) {
      set_factors(edges_[i], false, 0.0, 0.0, factors_.data() + i * kShapFactors * n_points);
    }
  }
}

void ShapSteps::set_factors(const Edge& edge, bool is_leaf, double value, double other,
                            double* factors) const {
  const std::size_t n = quadrature_.point.size();
  for (std::size_t q = 0; q < n; ++q) {
    const double t = quadrature_.point[q];
    Factors found = is_leaf ? leaf_factors(t, edge.share, edge.share_above)
                            : inner_factors(t, edge.share, edge.share_above);
    if (is_leaf) {
      const double rest = edge.share_above - edge.share;
      const Factors right = edge.is_pair ? leaf_factors(t, rest, edge.share_above) : Factors{};
      found = pair_factors(found, value, right, other);
    }
    for (std::size_t i = 0; i < kShapFactors; ++i) factors[i * n + q] = found[i];
  }
}

void ShapSteps::set_values(const AdditiveTree& tree, std::size_t k, int exponent) {
  const auto value_of = [&](std::size_t node) {
    return std::ldexp(tree.leaf_value(node, k), -exponent);
  };
  const std::size_t n = kShapFactors * quadrature_.point.size();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].act != ShapAct::leaf) continue;
    const Edge& edge = edges_[i];
    const double other = edge.is_pair ? value_of(edge.child + 1) : 0.0;
    set_factors(edge, true, value_of(edge.child), other, factors_.data() + i * n);
  }
}

}  // namespace arboleda
