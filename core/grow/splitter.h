// What growing a tree needs of a criterion: the statistic of a node's rows, and the search for their best
// split. One thread's; criterion_splitter.h makes one for every criterion.
//
// A node takes these steps, the last two only where it may be split:
//
//   measure(rows)                  the rows' statistic
//   summarize(), is_pure()         what is recorded of the node
//   begin_search(key, bounds)      then begin(), search() and the like, feature by feature
//   measure_part(rows) ...         what is needed of a child before it is opened
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "split/binary_feature_search.h"
#include "split/numeric_feature_search.h"
#include "split/split.h"

namespace arboleda {

// Of a node, in the units of the criterion.
struct NodeSummary {
  double impurity, weight;
};

class Splitter {
 public:
  virtual ~Splitter() = default;

  // rows: ascending; they must stay as they are until the node has been split.
  virtual void measure(std::span<const RowIndex> rows) = 0;

  // value: OUT n_outputs numbers, within the bounds where predictions are monotonic.
  virtual NodeSummary summarize(const Bounds& bounds, double* value) const = 0;
  virtual bool is_pure() const = 0;

  // Impurity and weight of some of the node's rows, and the prediction for them whose order is constrained.
  virtual NodeSummary measure_part(std::span<const RowIndex> rows) = 0;
  virtual double ordered_value(std::span<const RowIndex> rows) = 0;

  // The node that was measured is searched from now on. key: its path from the root, for randomness.
  virtual void begin_search(std::uint64_t key, const Bounds& bounds) = 0;
  // The same node as another splitter of the same tree, which must not measure meanwhile.
  virtual void join_search(const Splitter& other) = 0;

  // Call before features of the node are searched.
  virtual void begin(std::span<const FeatureIndex> features) = 0;
  // Whether begin() has computed all sums that the feature needs.
  virtual bool has_sums(FeatureIndex feature) const = 0;
  // Improves `best`. False when the feature is constant in the node, missing values included: then it is
  // constant in the node's whole subtree. next: what is likely to be searched next; its codes are prefetched.
  virtual bool search(FeatureIndex feature, FeatureIndex next, Split& best) = 0;
  // The same for all of the features, where some of them are quicker searched together; else false.
  // varies: OUT what search() would return for each.
  virtual bool search_side_by_side(std::span<const FeatureIndex> features, Split& best,
                                   std::vector<std::uint8_t>& varies) = 0;
  // The same for scored binary features, all at once. False when all of them are constant.
  virtual bool search_binary_features(std::span<const FeatureIndex> features, Split& best) = 0;

  virtual BinaryFeatureSearch& binary_features() = 0;
  virtual NumericFeatureSearch& numeric_features() = 0;
};

}  // namespace arboleda
