// The weights D of the rows in boosting: they sum to 1, up to rounding, and no row that takes part falls
// below 2^-52, where it would be lost to all sums (scikit-learn's bound).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/fixed_weights.h"
#include "learn/booster.h"

namespace arboleda {

// The weight of each class in each node of a tree that is a leaf, as integers.
class LeafWeights {
 public:
  LeafWeights(std::vector<std::int64_t> units, std::size_t n_classes);

  // The sum of all weights.
  double whole() const;

  // The share of a class in a node in it.
  double share(std::size_t node, std::size_t k) const {
    return static_cast<double>(units_[node * n_classes_ + k]) / static_cast<double>(whole_);
  }

  // The share of all but one class of each node.
  double share_but(std::span<const std::size_t> choices) const;

 private:
  std::size_t n_classes_;
  std::vector<std::int64_t> units_;
  std::int64_t whole_ = 0;
};

// The largest class of each node of a tree of class shares, the first of several.
std::vector<std::size_t> largest_classes(const TreeArrays& tree, std::size_t n_classes);

class RowWeights {
 public:
  explicit RowWeights(const BoosterTask& task);

  std::span<const double> values() const { return weight_; }
  void set(std::span<const double> weights) { weight_.assign(weights.begin(), weights.end()); }

  // As integers for growing trees. sits_out: one a row of the table, or empty.
  FixedWeights fixed(std::span<const std::uint8_t> sits_out, int max_bits) const;

  // leaf: of each row that takes part. The same for any number of threads.
  LeafWeights sums(std::span<const NodeIndex> leaf, std::size_t n_nodes) const;

  // D <- D x factor[leaf * n_classes + class]
  void multiply(std::span<const NodeIndex> leaf, std::span<const double> factor);

 private:
  bool has_two_sides(std::span<const NodeIndex> leaf, std::size_t n_cells) const;

  const BoosterTask& task_;
  std::vector<double> weight_;  // one a row of the table
};

}  // namespace arboleda
