// Which features a node looks at, where its rows are in several shards: all of them, or those that node_search.h
// draws. The same numbers are drawn, but what varies in a node is read from the cells of all shards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "grow/growth_options.h"
#include "split/column_sets.h"
#include "split/feature_draw.h"
#include "split/hit_draw.h"

namespace arboleda {

// A node whose cells of some features are at hand.
struct CellsOfNode {
  std::uint64_t n_rows;
  std::function<bool(FeatureIndex)> varies;
  std::function<bool(FeatureIndex)> search;  // the same, and improves the best split
};

class SharedDraw {
 public:
  // binary: features that the search of a whole table scores as binary ones; empty where it scores none.
  SharedDraw(const GrowthOptions& options, const std::vector<FeatureIndex>& features,
             std::vector<FeatureIndex> binary, std::uint64_t seed);

  bool looks_at_all() const { return looks_at_all_; }
  QuickStream stream(std::uint64_t node_key) const { return {root_, node_key}; }

  // The features whose cells are needed. may_vary: those that are not known to be constant in the node.
  std::vector<FeatureIndex> list(std::uint64_t n_rows, const std::vector<FeatureIndex>& may_vary,
                                 QuickStream& random);

  // Searches what was drawn of them. False where none varies: then search_rest() needs the cells of all that
  // may vary.
  bool search(const CellsOfNode& node, const std::vector<FeatureIndex>& listed,
              QuickStream& random) const;

  // Draws on among these until one varies.
  void search_rest(const CellsOfNode& node, const std::vector<FeatureIndex>& may_vary,
                   QuickStream& random) const;

 private:
  bool draws_hits(std::uint64_t n_rows) const;
  bool is_binary(FeatureIndex feature) const;
  std::vector<FeatureIndex> candidates(const CellsOfNode& node,
                                       const std::vector<FeatureIndex>& may_vary) const;
  static void draw_on(const CellsOfNode& node, std::vector<FeatureIndex> rest, QuickStream& random);

  const std::size_t n_features_, n_wanted_;
  const bool looks_at_all_;
  const std::vector<FeatureIndex> binary_;  // ascending
  FeatureDraw draw_;
  const HitDraw hits_;
  const std::uint64_t root_;  // of the streams
};

}  // namespace arboleda
