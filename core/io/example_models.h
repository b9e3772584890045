// Small models for the tests and for the fuzzing of the model file.
#pragma once

#include <string>

#include "io/model_file.h"

namespace arboleda {

// A tree of `n_splits` splits, one below the other: each left child is a leaf. Two outputs.
inline Tree chain(NodeIndex n_splits) {
  TreeArrays a;
  a.n_features = 3;
  a.n_outputs = 2;
  const std::vector<double> share{0.25, 0.75};
  NodeIndex right_of = -1;
  for (NodeIndex i = 0; i < n_splits; ++i) {
    const auto rows = static_cast<std::int64_t>(n_splits - i) + 1;
    const auto weight = static_cast<double>(rows);
    const NodeIndex parent =
        append_node(a, {false, i % 3, 0.5 * i, i % 2 == 0, 0.375, rows, weight}, share, right_of);
    append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, share, -1);
    right_of = parent;
  }
  append_node(a, {true, -1, 0.0, false, 0.0, 1, 1.0}, share, right_of);
  return Tree(std::move(a));
}

// A balanced tree of two levels whose root asks for categories.
inline Tree categorical() {
  const std::vector<CategoryIndex> list{1, 4, 65534};
  const std::vector<double> mean{-1.5};
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 1;
  append_node(a, {false, 0, 0.0, true, 2.0, 8, 8.0, list}, mean, -1);
  append_node(a, {false, 1, 3.5, false, 1.0, 4, 4.0}, mean, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, mean, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, mean, 1);
  append_node(a, {false, 0, 0.0, false, 1.0, 4, 4.0, std::span(list).first(1)}, mean, 0);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, mean, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, mean, 4);
  return Tree(std::move(a));
}

// A file with trees of both kinds and arrays of both types, in 1,000 bytes.
inline Bytes example_file() {
  const Tree first = chain(3);
  const Tree second = categorical();
  return write_model("{\"class\": \"Example\"}\n", {&first, &second},
                     {{"curve.alpha", {2, 2}, std::vector<double>{0.0, 0.5, 1.0, 1.5}},
                      {"leaves", {3}, std::vector<std::int64_t>{9, 4, 1}}});
}

// Trees that add up, two a round: splits of every kind, missing values on either side.
inline TreeEnsemble example_ensemble() {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 1;
  const std::vector<double> low{-0.25}, high{0.75};
  append_node(a, {false, 1, 0.25, true, 3.0, 6, 6.0}, high, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, low, -1);
  append_node(a, {false, 0, 2.0, false, 1.0, 4, 4.0}, high, 0);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, high, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 2.0}, low, 2);
  const Tree numeric(std::move(a));
  return {{0.5, -1.0}, {categorical(), numeric, numeric, categorical()}};
}

// The same with linear leaves in its second tree.
inline TreeEnsemble linear_ensemble() {
  TreeEnsemble ensemble = example_ensemble();
  const LinearLeaves leaves{{0, 0, 1, 1, 3, 3}, {0.0, -0.5, 0.0, 1.5, 0.0}, {1, 0, 1},
                            {2.0, 0.25, -1.0},  {-1.0, 0.0, -2.0},          {0.25, 4.0, 2.0}};
  append(ensemble.linear, 7, leaves, 5);
  append(ensemble.linear, 12, {}, 12);
  return ensemble;
}

// The first one as a file, in 1,600 bytes.
inline Bytes ensemble_file() {
  const TreeEnsemble ensemble = example_ensemble();
  std::vector<const Tree*> trees;
  for (const Tree& tree : ensemble.trees) trees.push_back(&tree);
  return write_model("{\"class\": \"Example\"}\n", trees,
                     {{"ensemble_.start", {2}, ensemble.start}});
}

}  // namespace arboleda
