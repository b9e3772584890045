// Leaves that predict a linear function of some columns: Shi, Li & Li (2019), "Gradient boosting
// with piece-wise linear regression trees".
//
//   f(x) = intercept + sum over the node's terms of
//            coefficient * (x[feature], but at least low and at most high, less low)
//
// low and high are the ends of what the leaf was fitted on: beyond them f goes on as a constant, so
// that no prediction diverges. A row that lacks one of the values gets the value of the leaf instead.
//
//   start      0 0 0 2 2 3      nodes 2 and 4 have terms, the others keep the tree's value
//   feature    1 5 | 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "tree/tree.h"

namespace arboleda {

// Of consecutive nodes: those of one tree, or of several, one after another. All arrays are empty where
// no node has a term.
struct LinearLeaves {
  std::vector<std::int64_t> start;  // n_nodes + 1: the terms of node i are start[i] .. start[i + 1]
  std::vector<double> intercept;    // one a node; 0 where it has no terms
  std::vector<FeatureIndex> feature;  // ascending within a node
  std::vector<double> coefficient, low, high;

  bool empty() const { return start.empty(); }
  std::size_t n_nodes() const { return intercept.size(); }
  std::size_t first_term(std::size_t node) const { return static_cast<std::size_t>(start[node]); }
  bool has_terms(std::size_t node) const { return start[node] < start[node + 1]; }

  // The prediction of a node. value: the tree's own value there; x_of(term): the row's value of that
  // term's feature, NaN where it is missing.
  template <class XOf>
  double value_at(std::size_t node, double value, const XOf& x_of) const {
    if (!has_terms(node)) return value;
    double sum = intercept[node];
    for (std::size_t e = first_term(node); e < first_term(node + 1); ++e) {
      const double x = x_of(e);
      if (x != x) return value;
      sum += coefficient[e] * ((x < low[e] ? low[e] : x > high[e] ? high[e] : x) - low[e]);
    }
    return sum;
  }
};

std::size_t count_nodes(std::span<const Tree> trees);

// The leaves of `n_nodes` nodes, then those of the `n_more` nodes that follow.
void append(LinearLeaves& leaves, std::size_t n_nodes, const LinearLeaves& more,
            std::size_t n_more);

// Those of the nodes [begin, end).
LinearLeaves part_of(const LinearLeaves& leaves, std::size_t begin, std::size_t end);

// Throws Error(invalid_argument) unless they can be leaves of these trees: terms in leaves only, features
// in range, numbers and predictions finite. Leaves that pass are safe to evaluate, wherever they came from.
void check_linear_leaves(const LinearLeaves& leaves, std::span<const Tree> trees);

}  // namespace arboleda
