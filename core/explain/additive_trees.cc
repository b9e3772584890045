#include "explain/additive_trees.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace arboleda {

namespace {

// The weights of inner nodes, from those of their leaves.
void add_weights(AdditiveTree& tree) {
  for (std::size_t node = tree.nodes.size(); node-- > 0;) {
    AdditiveNode& own = tree.nodes[node];
    if (own.is_leaf()) continue;
    own.weight =
        tree.nodes[node + 1].weight + tree.nodes[static_cast<std::size_t>(own.right)].weight;
  }
}

void read_nodes(const Tree& tree, AdditiveTree& out) {
  const TreeArrays& a = tree.arrays();
  out.nodes.assign(a.right.size(), {});
  for (std::size_t i = 0; i < out.nodes.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    AdditiveNode& own = out.nodes[i];
    own.weight = a.weight[i];
    if (tree.is_leaf(node)) continue;
    own.threshold = a.threshold[i];
    own.right = a.right[i];
    own.feature = a.feature[i];
    own.missing_left = a.missing_left[i] != 0;
    if (tree.is_categorical(node)) own.categories = tree.categories(node);
  }
  add_weights(out);
}

void read_nodes(const CompactTree& tree, AdditiveTree& out) {
  out.nodes.assign(tree.n_nodes(), {});
  for (std::size_t i = 0; i < out.nodes.size(); ++i) {
    const CompactNode& node = tree.nodes[i];
    AdditiveNode& own = out.nodes[i];
    if (node.is_leaf()) {
      own.weight = tree.weight_of(node.leaf());
      continue;
    }
    own.right = node.right;
    own.feature = node.feature();
    own.missing_left = node.missing_left();
    if (node.is_categorical()) {
      own.categories = tree.categories(node);
    } else {
      own.threshold = node.threshold;
    }
  }
  add_weights(out);
}

// leaf_value(node): the outputs of a leaf, `width` numbers.
template <class LeafValue>
void read_values(AdditiveTree& out, std::size_t first_output, std::size_t width,
                 const LeafValue& leaf_value) {
  out.first_output = first_output;
  out.width = width;
  out.value.assign(out.nodes.size() * width, 0.0);
  for (std::size_t node = 0; node < out.nodes.size(); ++node) {
    if (out.nodes[node].is_leaf()) leaf_value(node, out.value.data() + node * width);
  }
}

}  // namespace

std::size_t AdditiveTree::child(std::size_t node, double x) const {
  const AdditiveNode& own = nodes[node];
  bool left = own.missing_left;
  if (own.categories.empty()) {
    if (x == x) left = x <= own.threshold;
  } else if (x >= 0.0 && x <= std::numeric_limits<CategoryIndex>::max()) {
    left ^= std::binary_search(own.categories.begin(), own.categories.end(),
                               static_cast<CategoryIndex>(x));
  }
  return left ? node + 1 : static_cast<std::size_t>(own.right);
}

double AdditiveTree::left_share(std::size_t node) const {
  return nodes[node + 1].weight / nodes[node].weight;
}

AdditiveTrees::AdditiveTrees(std::size_t n_columns, std::size_t n_trees, std::vector<double> start,
                             double divisor, Read read)
    : n_columns_(n_columns),
      n_trees_(n_trees),
      start_(std::move(start)),
      divisor_(divisor),
      read_(std::move(read)) {
  std::vector<double> largest(n_outputs(), 0.0);
  AdditiveTree tree;
  for (std::size_t t = 0; t < n_trees; ++t) {
    read_(t, tree);
    for (std::size_t i = 0; i < tree.value.size(); ++i) {
      double& most = largest[tree.first_output + i % tree.width];
      most = std::max(most, std::abs(tree.value[i]));
    }
  }
  for (const double most : largest) exponent_.push_back(most > 0.0 ? std::ilogb(most) + 1 : 0);
}

void AdditiveTrees::read(std::size_t tree, AdditiveTree& out) const {
  read_(tree, out);
  for (std::size_t i = 0; i < out.value.size(); ++i) {
    out.value[i] = std::ldexp(out.value[i], -exponent_[out.first_output + i % out.width]);
  }
}

double AdditiveTrees::in_score(double sum, std::size_t output) const {
  return std::ldexp(sum / divisor_, exponent_[output]);
}

AdditiveTrees additive(const Tree& tree) {
  const auto width = static_cast<std::size_t>(tree.arrays().n_outputs);
  const auto read = [&tree, width](std::size_t, AdditiveTree& out) {
    read_nodes(tree, out);
    read_values(out, 0, width, [&](std::size_t node, double* value) {
      const auto found = tree.value(static_cast<NodeIndex>(node));
      std::copy(found.begin(), found.end(), value);
    });
  };
  return {static_cast<std::size_t>(tree.arrays().n_features), 1, std::vector<double>(width, 0.0),
          1.0, read};
}

AdditiveTrees additive(const TreeEnsemble& ensemble) {
  require(ensemble.linear.empty(), "linear leaves have no expectation by the weights of nodes");
  const auto& trees = ensemble.trees;
  const std::size_t n_columns =
      trees.empty() ? 0 : static_cast<std::size_t>(trees[0].arrays().n_features);
  const auto read = [&ensemble](std::size_t t, AdditiveTree& out) {
    const Tree& tree = ensemble.trees[t];
    read_nodes(tree, out);
    read_values(out, t % ensemble.n_outputs(), 1, [&](std::size_t node, double* value) {
      *value = tree.value(static_cast<NodeIndex>(node))[0];
    });
  };
  return {n_columns, trees.size(), ensemble.start, 1.0, read};
}

AdditiveTrees additive(const Forest& forest, const Ballot& ballot) {
  const auto read = [&forest, &ballot](std::size_t t, AdditiveTree& out) {
    const CompactTree& tree = forest.trees[t];
    read_nodes(tree, out);
    read_values(out, 0, ballot.n_outputs(), [&](std::size_t node, double* value) {
      ballot.add(tree, static_cast<std::uint32_t>(node), value);
    });
  };
  return {static_cast<std::size_t>(forest.n_features), forest.trees.size(),
          std::vector<double>(ballot.n_outputs(), 0.0), static_cast<double>(forest.trees.size()),
          read};
}

AdditiveTrees additive(const Forest& forest, const MemberVotes& votes) {
  const auto read = [&forest, &votes](std::size_t t, AdditiveTree& out) {
    const CompactTree& tree = forest.trees[t];
    const bool one_each = votes.trees_a_member() > 1;
    const std::size_t first = one_each ? t % votes.trees_a_member() : 0;
    const std::size_t width = one_each ? 1 : votes.n_outputs();
    std::vector<double> votes_of_leaf(votes.n_outputs());
    read_nodes(tree, out);
    read_values(out, first, width, [&](std::size_t node, double* value) {
      std::fill(votes_of_leaf.begin(), votes_of_leaf.end(), 0.0);
      votes.add(t, tree.nodes[node].leaf(), votes_of_leaf.data());
      std::copy_n(votes_of_leaf.begin() + static_cast<std::ptrdiff_t>(first), width, value);
    });
  };
  return {static_cast<std::size_t>(forest.n_features), forest.trees.size(),
          std::vector<double>(votes.n_outputs(), 0.0), 1.0, read};
}

std::vector<double> expected_scores(const AdditiveTrees& trees) {
  std::vector<double> sums(trees.n_outputs(), 0.0);
  AdditiveTree tree;
  for (std::size_t t = 0; t < trees.n_trees(); ++t) {
    trees.read(t, tree);
    for (std::size_t node = tree.nodes.size(); node-- > 0;) {
      const AdditiveNode& own = tree.nodes[node];
      if (own.is_leaf()) continue;
      const double share = tree.left_share(node);
      for (std::size_t k = 0; k < tree.width; ++k) {
        tree.value[node * tree.width + k] =
            share * tree.value_of(node + 1, k) +
            (1.0 - share) * tree.value_of(static_cast<std::size_t>(own.right), k);
      }
    }
    for (std::size_t k = 0; k < tree.width; ++k) {
      sums[tree.first_output + k] += tree.value_of(0, k);
    }
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    sums[k] = trees.start()[k] + trees.in_score(sums[k], k);
  }
  return sums;
}

}  // namespace arboleda
