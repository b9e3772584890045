#include "predict/one_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.h"
#include "predict/flat_trees.h"
#include "predict/round_walks.h"
#include "predict/weighted_median.h"
#include "tree/walk.h"

namespace arboleda {

namespace {

// Trees whose leaves are found before they are read.
constexpr std::size_t kTrees = 64;

class LeafValue final : public OneRow {
 public:
  explicit LeafValue(const Tree& tree)
      : OneRow(static_cast<std::size_t>(tree.arrays().n_features),
               static_cast<std::size_t>(tree.arrays().n_outputs)),
        tree_(tree) {}

  void predict(const double* row, double* out) const override {
    NodeIndex node = 0;
    while (!tree_.is_leaf(node)) {
      node = tree_.child(node, row[static_cast<std::size_t>(tree_.feature(node))]);
    }
    const auto value = tree_.value(node);
    std::copy(value.begin(), value.end(), out);
  }

 private:
  const Tree& tree_;
};

class Sum final : public OneRow {
 public:
  Sum(const TreeEnsemble& ensemble, std::size_t n_columns)
      : OneRow(n_columns, ensemble.n_outputs()),
        ensemble_(ensemble),
        walks_(ensemble, 0, ensemble.n_rounds()),
        flat_(walks_.trees(), ensemble.linear, n_columns) {}

  void predict(const double* row, double* out) const override {
    thread_local std::vector<double> slots;
    if (slots.size() < flat_.slots().n_slots()) slots.resize(flat_.slots().n_slots());
    flat_.slots().fill(row, slots.data());
    std::copy(ensemble_.start.begin(), ensemble_.start.end(), out);
    std::array<std::uint32_t, kTrees> leaf;
    std::size_t output = 0;
    for (std::size_t first = 0; first < flat_.n_trees(); first += kTrees) {
      const std::size_t last = std::min(flat_.n_trees(), first + kTrees);
      flat_.walk_trees(first, last, slots.data(), leaf.data());
      if (walks_.are_shared()) {
        for (std::size_t t = first; t < last; ++t) {
          const double* values = walks_.values(t, leaf[t - first]);
          for (std::size_t k = 0; k < n_outputs(); ++k) out[k] += values[k];
        }
        continue;
      }
      for (std::size_t t = first; t < last; ++t) {
        out[output] += flat_.has_linear_leaves() ? flat_.value(t, leaf[t - first], slots.data())
                                                 : flat_.value(t, leaf[t - first]);
        output = output + 1 == n_outputs() ? 0 : output + 1;
      }
    }
  }

 private:
  const TreeEnsemble& ensemble_;
  const RoundWalks walks_;
  FlatTrees flat_;
};

// Calls visit(tree, leaf), the leaf as a node, for the trees in their order.
template <class Visit>
void for_each_leaf(const Forest& forest, const double* row, const Visit& visit) {
  std::array<std::uint32_t, kTrees> leaf;
  const std::size_t n_trees = forest.trees.size();
  for (std::size_t first = 0; first < n_trees; first += kTrees) {
    const std::size_t last = std::min(n_trees, first + kTrees);
    walk_side_by_side(
        last - first, leaf.data(), [&](std::size_t i) { return &forest.trees[first + i]; },
        [&](std::uint32_t at, const CompactTree* tree) {
          const CompactNode& node = tree->nodes[at];
          if (node.is_leaf()) return at;
          return static_cast<std::uint32_t>(tree->child(
              static_cast<NodeIndex>(at), row[static_cast<std::size_t>(node.feature())]));
        });
    for (std::size_t t = first; t < last; ++t) visit(t, leaf[t - first]);
  }
}

class MeanVote final : public OneRow {
 public:
  MeanVote(const Forest& forest, const Ballot& ballot)
      : OneRow(static_cast<std::size_t>(forest.n_features), ballot.n_outputs()),
        forest_(forest),
        ballot_(ballot) {
    require(!forest.trees.empty(), "a forest without trees cannot predict");
  }

  void predict(const double* row, double* out) const override {
    std::fill_n(out, n_outputs(), 0.0);
    for_each_leaf(forest_, row, [&](std::size_t tree, std::uint32_t leaf) {
      ballot_.add(forest_.trees[tree], leaf, out);
    });
    for (std::size_t k = 0; k < n_outputs(); ++k) {
      out[k] /= static_cast<double>(forest_.trees.size());
    }
  }

 private:
  const Forest& forest_;
  Ballot ballot_;
};

class WeightedVote final : public OneRow {
 public:
  WeightedVote(const Forest& forest, const MemberVotes& votes)
      : OneRow(static_cast<std::size_t>(forest.n_features), votes.n_outputs()),
        forest_(forest),
        votes_(votes) {}

  void predict(const double* row, double* out) const override {
    std::fill_n(out, n_outputs(), 0.0);
    for_each_leaf(forest_, row, [&](std::size_t tree, std::uint32_t leaf) {
      votes_.add(tree, forest_.trees[tree].nodes[leaf].leaf(), out);
    });
  }

 private:
  const Forest& forest_;
  const MemberVotes& votes_;
};

class MedianValue final : public OneRow {
 public:
  MedianValue(const Forest& forest, std::vector<double> weights)
      : OneRow(static_cast<std::size_t>(forest.n_features), 1),
        forest_(forest),
        weights_(std::move(weights)) {
    require(!forest.trees.empty() && weights_.size() == forest.trees.size(),
            "one weight a tree is needed, and a tree");
    require(forest.n_outputs == 1, "medians are of one target");
    for (const double weight : weights_) {
      require(weight >= 0.0 && std::isfinite(weight), "a tree's weight is negative or not finite");
    }
  }

  void predict(const double* row, double* out) const override {
    struct TreeValue {
      double value;
      std::size_t tree;
    };
    thread_local std::vector<TreeValue> by_value;
    thread_local std::vector<WeightedValue> weighted;
    by_value.clear();
    weighted.clear();
    for_each_leaf(forest_, row, [&](std::size_t tree, std::uint32_t leaf) {
      const auto node = static_cast<NodeIndex>(leaf);
      by_value.push_back({forest_.trees[tree].leaf_value(node, 1, forest_.measure)[0], tree});
    });
    // A stable sort would take memory: equal values stay in the order of the trees by their numbers.
    std::sort(by_value.begin(), by_value.end(), [](const TreeValue& a, const TreeValue& b) {
      return a.value < b.value || (a.value == b.value && a.tree < b.tree);
    });
    for (const TreeValue& one : by_value) weighted.push_back({one.value, weights_[one.tree]});
    *out = weighted_median(weighted);
  }

 private:
  const Forest& forest_;
  std::vector<double> weights_;
};

}  // namespace

std::unique_ptr<OneRow> one_row_of(const Tree& tree) { return std::make_unique<LeafValue>(tree); }

std::unique_ptr<OneRow> one_row_of(const TreeEnsemble& ensemble, std::size_t n_columns) {
  for (const Tree& tree : ensemble.trees) {
    require(static_cast<std::size_t>(tree.arrays().n_features) == n_columns,
            "the row's number of columns differs from the one that the trees were fitted on");
  }
  return std::make_unique<Sum>(ensemble, n_columns);
}

std::unique_ptr<OneRow> one_row_of(const Forest& forest, const Ballot& ballot) {
  return std::make_unique<MeanVote>(forest, ballot);
}

std::unique_ptr<OneRow> one_row_of(const Forest& forest, const MemberVotes& votes) {
  return std::make_unique<WeightedVote>(forest, votes);
}

std::unique_ptr<OneRow> one_row_of(const Forest& forest, std::vector<double> weights) {
  return std::make_unique<MedianValue>(forest, std::move(weights));
}

}  // namespace arboleda
