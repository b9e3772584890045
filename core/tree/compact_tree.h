// A tree of a forest, in as few bytes as possible. A forest has hundreds of trees, grown until
// leaves are pure: its nodes are most of what a model weighs.
//
// Nodes stand in preorder (tree.h), sixteen bytes each. The leaves have numbers of their own, in the
// same order, and what is known of a node - values, rows, weight, impurity - is kept for leaves alone:
//
//     node       0    1    2    3    4         a leaf's `right` is -1 - its number
//     right      4    3   -1   -2   -3
//     leaf                 0    1    2         n_rows: 10 7 5     value: 3 x outputs
//
// What is known of an inner node follows from its leaves, up to rounding (`expanded`), but for measures
// where that is not the case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "tree/tree.h"

namespace arboleda {

// How the nodes of a forest were measured: what the value and impurity of an inner node follow from.
enum class Measure : std::uint8_t {
  gini,  // gini, entropy, misclassification: values are class shares, impurity is of these shares
  entropy,
  misclassification,
  squared_error,  // the value is a mean, impurity the variance
  poisson,        // the value is a mean, impurity half the deviance
  means,    // values are means or shares of several targets; impurities are kept for all nodes
  medians,  // nothing follows: values and impurities are kept for all nodes
};

inline constexpr int kMeasures = 7;

inline bool keeps_values(Measure m) { return m == Measure::medians; }
inline bool keeps_impurities(Measure m) { return m == Measure::means || m == Measure::medians; }

struct CompactNode {
  double threshold;      // 0 in a leaf; in a node that tests a category, which list of categories
  std::int32_t right;    // a leaf: -1 - its number
  std::uint32_t packed;  // the feature, and two flags; 0 in a leaf

  static constexpr std::uint32_t kMissingLeft = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kCategorical = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kFeature = kCategorical - 1;

  bool is_leaf() const { return right < 0; }
  std::size_t leaf() const { return static_cast<std::size_t>(-1 - right); }
  FeatureIndex feature() const { return static_cast<FeatureIndex>(packed & kFeature); }
  bool missing_left() const { return (packed & kMissingLeft) != 0; }
  bool is_categorical() const { return (packed & kCategorical) != 0; }
};
static_assert(sizeof(CompactNode) == 16);

struct CompactTree {
  std::int32_t impurity_exponent = 0;  // as in TreeArrays
  std::vector<CompactNode> nodes;

  // Of leaves, in their order; `value` and `impurity` of all nodes where the measure keeps them.
  std::vector<double> value;          // x outputs
  std::vector<std::uint32_t> n_rows;  // distinct training rows of positive weight
  std::vector<double> weight;         // their weight; none where it is n_rows
  std::vector<double> impurity;       // times 2^-impurity_exponent; none where all are 0

  // List l of categories: category[category_start[l] .. category_start[l + 1]), ascending.
  std::vector<std::uint32_t> category_start;  // number of lists + 1, or none
  std::vector<CategoryIndex> category;

  std::vector<RowIndex> row;  // the training rows, leaf by leaf; none where they are not kept

  std::size_t n_nodes() const { return nodes.size(); }
  std::size_t n_leaves() const { return n_rows.size(); }
  double weight_of(std::size_t leaf) const {
    return weight.empty() ? static_cast<double>(n_rows[leaf]) : weight[leaf];
  }
  std::span<const CategoryIndex> categories(const CompactNode& node) const {
    const auto list = static_cast<std::size_t>(node.threshold);
    return std::span(category).subspan(category_start[list],
                                       category_start[list + 1] - category_start[list]);
  }

  // The child a row goes to, given its value of the node's feature.
  NodeIndex child(NodeIndex node, double x) const {
    const CompactNode& test = nodes[static_cast<std::size_t>(node)];
    const bool left = test.is_categorical() ? has_category(test, x) != test.missing_left()
                      : x == x              ? x <= test.threshold
                                            : test.missing_left();
    return left ? node + 1 : test.right;
  }

  // The values of a leaf.
  std::span<const double> leaf_value(NodeIndex node, std::size_t n_outputs, Measure measure) const {
    const std::size_t at = keeps_values(measure) ? static_cast<std::size_t>(node)
                                                 : nodes[static_cast<std::size_t>(node)].leaf();
    return std::span(value).subspan(at * n_outputs, n_outputs);
  }

 private:
  bool has_category(const CompactNode& node, double x) const;
};

// What the trees of a forest have in common.
struct TreeShape {
  FeatureIndex n_features = 0;
  std::int32_t n_outputs = 0;
  Measure measure = Measure::gini;
};

// rows: the distinct training rows in the order of leaves, as growing leaves them; or none.
CompactTree compact(const TreeArrays& tree, Measure measure, std::vector<RowIndex> rows = {});

TreeArrays expanded(const CompactTree& tree, const TreeShape& shape);

// Throws Error(invalid_argument) unless all that is promised above holds, so that the tree is safe to
// walk and to expand, wherever its arrays came from. n_training_rows: those of `row` are below it.
void check_compact(const CompactTree& tree, const TreeShape& shape, std::size_t n_training_rows);

// Where the rows of each leaf begin in `row`, and where the last ones end: n_leaves + 1.
std::vector<std::uint32_t> leaf_begins(const CompactTree& tree);

// What the tree takes in memory.
std::size_t n_bytes(const CompactTree& tree);

}  // namespace arboleda
