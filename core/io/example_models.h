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

// A balanced tree of two levels whose root tests categories.
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

// A tree that is a leaf alone, of two classes.
inline TreeArrays lone_leaf() {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 2;
  append_node(a, {true, -1, 0.0, false, 0.375, 8, 6.5}, std::vector{0.25, 0.75}, -1);
  return a;
}

// Forests of every kind of arrays: classes with kept rows, weights, impurities, categories and missing
// values on either side; means; and medians, whose inner nodes are kept.
inline std::vector<Forest> example_forests() {
  TreeArrays a;
  a.n_features = 2;
  a.n_outputs = 2;
  const std::vector<CategoryIndex> list{0, 4};
  const std::vector<double> yes{0.0, 1.0}, no{1.0, 0.0}, both{0.25, 0.75};
  append_node(a, {false, 1, 0.25, true, 0.5, 8, 6.5}, both, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 3, 2.5}, yes, -1);
  append_node(a, {false, 0, 0.0, false, 0.5, 5, 4.0, list}, both, 0);
  append_node(a, {true, -1, 0.0, false, 0.375, 3, 3.0}, both, -1);
  append_node(a, {true, -1, 0.0, false, 0.0, 2, 1.0}, no, 2);
  const auto shape = [](Measure measure) {
    return Forest{2, measure == Measure::gini ? 2 : 1, measure, {}};
  };
  Forest classes = shape(Measure::gini);
  classes.n_training_rows = 9;
  classes.trees = {compact(a, Measure::gini, {7, 0, 2, 4, 1, 3, 8, 6}),
                   compact(lone_leaf(), Measure::gini, {0, 1, 2, 3, 4, 5, 6, 7})};
  std::vector<Forest> forests{classes};
  for (const Measure measure : {Measure::squared_error, Measure::medians}) {
    forests.push_back(shape(measure));
    for (const Tree& tree : example_ensemble().trees) {
      forests.back().trees.push_back(compact(tree.arrays(), measure));
    }
  }
  return forests;
}

// Each kind as a file, in less than 1,200 bytes.
inline Bytes forest_file(std::size_t kind) {
  const Forest forest = example_forests()[kind];
  return write_model("{\"class\": \"Example\"}\n", {}, {{"leaves", {1}, std::vector<double>{3}}},
                     {&forest});
}

// The ensemble as a file, in 1,600 bytes.
inline Bytes ensemble_file() {
  const TreeEnsemble ensemble = example_ensemble();
  std::vector<const Tree*> trees;
  for (const Tree& tree : ensemble.trees) trees.push_back(&tree);
  return write_model("{\"class\": \"Example\"}\n", trees,
                     {{"ensemble_.start", {2}, ensemble.start}});
}

}  // namespace arboleda
