// The prior over trees: Chipman, George & McCulloch (1998), "Bayesian CART model search", section 3; (2010),
// "BART: Bayesian additive regression trees", section 2.2.
//
//   a node of depth d (the root: 0) that has a rule to offer splits with probability alpha (1 + d)^-beta
//   its column is uniform over the columns that have a rule to offer at the node
//   its rule is uniform over the rules of that column that are left at the node; of rules that compare
//   present values, missing values go left or right with probability 1/2 each
//
// A rule is left at a node if the rules above leave values on both of its sides: that depends on the
// cut points, not on the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "bart/sampled_tree.h"
#include "base/random.h"

namespace arboleda {

struct SplitPrior {
  double alpha = 0.95;
  double beta = 2.0;
};

class TreePrior {
 public:
  // The columns must outlive this.
  TreePrior(const RuleColumns& columns, const SplitPrior& prior);

  // Columns that have a rule to offer at a node.
  std::size_t n_columns_at(const SampledTree& tree, Slot node) const;

  // A rule from the prior, at a node where n_columns_at() > 0.
  Rule draw_rule(const SampledTree& tree, Slot node, QuickStream& stream) const;

  // Log probability of a rule at a node; minus infinity where it is not left there.
  double log_rule(const SampledTree& tree, Slot node, const Rule& rule) const;

  // Log probability of the splits and rules of a tree; minus infinity where a rule is not left.
  double log_tree(const SampledTree& tree) const;

  const RuleColumns& columns() const { return columns_; }

 private:
  // What the rules above a node leave of a column.
  struct Reach {
    Code low = 0, end = 0;       // codes [low, end) of a numeric column, or of categories,
    std::vector<Code> excluded;  // but for these: ascending, each once
    bool missing = false;

    Code n_present() const { return end - low - static_cast<Code>(excluded.size()); }
  };
  struct RuleCounts {
    Code present = 0;  // rules that compare present values
    bool missing = false;

    Code total() const { return present + (missing ? 1 : 0); }
  };

  Reach reach(const SampledTree& tree, Slot node, FeatureIndex feature) const;
  static RuleCounts count_rules(const RuleColumn& column, const Reach& reach);
  double log_of(std::size_t count) const;

  const RuleColumns& columns_;
  std::vector<FeatureIndex> offered_;         // columns that have a rule to offer at the root
  std::vector<double> log_split_, log_stop_;  // by depth
  std::vector<double> log_;                   // of small whole numbers
};

}  // namespace arboleda
