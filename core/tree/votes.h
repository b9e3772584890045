// The vote of the leaf that a row reaches.
//
//   soft     the class shares of the leaf; in regression its means
//   hard     1 for its largest class, the first of several, and 0 for the others
//   laplace  (w_k + 1) / (w + K), with w_k the weight of class k in the leaf and K classes
//
// The shares of a pure leaf of one row rest on that row alone; Laplace's correction leaves its
// class 2/3 of two classes, which calibrates forests of such leaves better: Provost, Domingos (2003),
// "Tree induction for probability-based ranking", Machine Learning 52.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tree/forest.h"

namespace arboleda {

enum class Voting : std::uint8_t { soft, hard, laplace };

// How the leaves of a forest vote. n_classes: of each target, whose values stand side by side; none in
// regression, which votes softly.
class Ballot {
 public:
  // Throws Error(invalid_argument) unless the classes are those of the forest's values.
  Ballot(const Forest& forest, Voting voting, std::span<const std::size_t> n_classes);

  std::size_t n_outputs() const { return n_outputs_; }

  // Adds the vote of a leaf of a tree of the forest, `leaf` being its node, to n_outputs() sums.
  void add(const CompactTree& tree, std::uint32_t leaf, double* sums) const {
    add_at(tree, places_are_nodes() ? leaf : tree.nodes[leaf].leaf(), sums);
  }

  // The same by the leaf's place among the values: its number, or its node where values of all nodes are
  // kept.
  bool places_are_nodes() const { return keeps_values(measure_); }
  void add_at(const CompactTree& tree, std::size_t place, double* sums) const {
    const double* value = tree.value.data() + place * n_outputs_;
    if (voting_ == Voting::soft) {
      for (std::size_t k = 0; k < n_outputs_; ++k) sums[k] += value[k];
    } else if (voting_ == Voting::hard) {
      add_hard(value, sums);
    } else {
      add_laplace(value, tree.weight_of(place), sums);
    }
  }

 private:
  void add_hard(const double* shares, double* sums) const;
  void add_laplace(const double* shares, double weight, double* sums) const;

  std::size_t n_outputs_;
  Measure measure_;
  Voting voting_;
  std::vector<std::size_t> n_classes_;
};

}  // namespace arboleda
