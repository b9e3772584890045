// A model as a sum of trees, which is all that its explanation needs:
//
//   score of output k = start[k] + (sum over trees of the row's leaf values for k) / divisor
//
// Boosted trees add up as they are; of forests and single trees the votes are averaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/types.h"
#include "tree/ensemble.h"
#include "tree/forest.h"
#include "tree/member_votes.h"
#include "tree/tree.h"
#include "tree/votes.h"

namespace arboleda {

struct AdditiveNode {
  double threshold = 0.0;
  NodeIndex right = -1;  // -1 in a leaf; the left child of node i is i + 1
  FeatureIndex feature = -1;
  bool missing_left = false;
  std::span<const CategoryIndex> categories = {};  // not empty: the node tests a category
  double weight = 0.0;  // of the training rows; an inner node's is the sum of its leaves'

  bool is_leaf() const { return right < 0; }
};

struct AdditiveTree {
  std::vector<AdditiveNode> nodes;
  std::size_t first_output = 0;
  std::size_t width = 0;      // outputs that its leaves speak of, from the first on
  std::vector<double> value;  // nodes x width; 0 in inner nodes

  double value_of(std::size_t node, std::size_t k) const { return value[node * width + k]; }

  // The child a row goes to, given its value of the node's feature. `node` is not a leaf.
  std::size_t child(std::size_t node, double x) const;

  // Share of the training rows at an inner node that go left: more than 0, as leaves weigh something.
  double left_share(std::size_t node) const;
};

class AdditiveTrees {
 public:
  // What a tree is by itself: its first output, width and values are those of the model.
  using Read = std::function<void(std::size_t tree, AdditiveTree& out)>;

  AdditiveTrees(std::size_t n_columns, std::size_t n_trees, std::vector<double> start,
                double divisor, Read read);

  std::size_t n_columns() const { return n_columns_; }
  std::size_t n_trees() const { return n_trees_; }
  std::size_t n_outputs() const { return start_.size(); }
  std::span<const double> start() const { return start_; }

  // The values of an output come as multiples of a power of 2, so that they lie between -1 and 1: sums
  // and products of those of huge and tiny targets would leave float64.
  void read(std::size_t tree, AdditiveTree& out) const;

  // What a sum of such values is worth in the score.
  double in_score(double sum, std::size_t output) const;

 private:
  std::size_t n_columns_, n_trees_;
  std::vector<double> start_;
  double divisor_;
  Read read_;
  std::vector<int> exponent_;  // of the power, for each output
};

// The model must outlive what is made of it. Throws Error(invalid_argument) where leaves are linear.
AdditiveTrees additive(const Tree& tree);
AdditiveTrees additive(const TreeEnsemble& ensemble);
AdditiveTrees additive(const Forest& forest, const Ballot& ballot);
AdditiveTrees additive(const Forest& forest, const MemberVotes& votes);

// Means of the outputs over the training rows, by the weights of leaves.
std::vector<double> expected_scores(const AdditiveTrees& trees);

}  // namespace arboleda
