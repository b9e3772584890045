// Shapley values of a tree for a group of rows (explain/shap_steps.h): see simd/kernels.h for how the
// loops are compiled and chosen.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

// Rows that are explained side by side.
inline constexpr std::size_t kShapRows = 32;

// A step of the walk through a tree, whose inner nodes have levels: the root 0, its children 1, ..
enum class ShapStepKind : std::uint8_t {
  test,   // an inner node: which rows go left
  enter,  // the edge from a node to a child that is an inner node
  leave,  // the same edge on the way back
  leaf,   // the edge to a leaf, or both edges of a node with two leaves as if they were one
};

struct ShapStep {
  ShapStepKind kind;
  bool is_left;           // enter, leave, leaf: the child is the left one
  bool is_first;          // leave, leaf: nothing was added to the node's sums yet
  bool missing_left;      // test
  std::uint32_t level;    // of the node that the step belongs to
  std::uint32_t above;    // level below the nearest edge above of the same player; 0: there is none
  std::uint32_t column;   // test: which of the group's columns
  std::uint32_t player;   // leave, leaf: whose value changes
  double threshold;       // test
  const double* factors;  // enter, leave, leaf: kShapFactors lists of a number for each point
  const std::uint64_t*
      categories;            // test: a bit for each that goes the other way than missing ones
  std::size_t n_categories;  // bits; 0: the node has a threshold
};

// For rows that pass the edge; rows that fail there first; rows that failed an edge of the player above.
// A step reads three lists of factors of the product, then two of the player's share of it: rows that
// failed above get nothing.
inline constexpr std::size_t kShapFactors = 5;

// Arrays of a group: kShapRows numbers of each column, of each player and of each point of a level.
struct ShapGroup {
  const double* columns;
  double* values;
  std::size_t n_points;
  const double* weights;  // of the points
  double* products;       // levels x points: begun with the weights at level 0
  double* sums;           // levels x points
  std::int64_t* passes;   // levels: -1 for rows that pass all edges of the player up to this one
  std::int64_t* lefts;    // levels: -1 for rows that go left
};

struct ShapKernels {
  // Adds the tree's values to those of the group's rows.
  void (*explain)(const ShapStep* steps, std::size_t n_steps, const ShapGroup& group);
};

}  // namespace arboleda
