// The random rows, columns and labels that each tree of a forest sees; the trees also differ by their
// nodes' random choices.
//
// A draw is a function of (seed, number of the tree): it does not depend on threads, and the rows that
// a tree did not see are found again by drawing its bag again.
//
//   bootstrap            as many rows as there are, with replacement: Breiman (1996), "Bagging
//                        predictors". A row is left out with probability (1 - 1/N)^N -> 0.368
//   without_replacement  every set of that many rows is equally likely: Buhlmann & Yu (2002), "Analyzing
//                        bagging"
//   balanced_bootstrap   as many rows of each class, with replacement, as the smallest class has: Chen,
//                        Liaw & Breiman (2004), "Using random forest to learn imbalanced data"
//
// Columns: Ho (1998), "The random subspace method for constructing decision forests"; with rows,
// Louppe & Geurts (2012), "Ensembles on random patches".
//
// Labels: a share p of them is switched. Martinez-Munoz & Suarez (2005), "Switching class labels to
// generate classification ensembles", has two schemes:
//
//   proportional  the classes keep their proportions P_k: Breiman (2000), "Randomizing outputs to
//                 increase prediction accuracy":
//                   P(j becomes i) = w P_i  for i != j,   P(j stays j) = 1 - w (1 - P_j),
//                   w = p / (1 - sum_k P_k^2).
//                 This is: a row takes part with probability w, and takes a label drawn from all. Here
//                 the rows that take part exchange their labels by a random permutation, so that the
//                 proportions are kept exactly
//   uniform       P(j becomes i) = p / (K - 1)  for i != j,   P(j stays j) = 1 - p: a fixed share p of
//                 the rows, drawn at random, takes another class, each as likely as any. The
//                 proportions move towards equal ones
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace arboleda {

enum class BagKind { all, bootstrap, without_replacement, balanced_bootstrap };

struct Bag {
  BagKind kind = BagKind::bootstrap;
  // Rows drawn, those drawn again counted again; of each class, if balanced. -1: as many as there are
  // to draw from; if balanced, as the smallest class has.
  std::int64_t n_drawn = -1;
};

// The rows that bags are drawn from.
struct BagRows {
  std::size_t n_rows = 0;                      // of the table
  std::span<const double> weights = {};        // a row of weight 0 is never drawn; empty: all 1
  std::span<const std::uint32_t> labels = {};  // one a row; only balanced bags look at them
};

// Draws the bags of a forest. Its functions may be called by several threads at once.
class BagDraw {
 public:
  // Throws Error(invalid_argument) when there is no row to draw from, or fewer than are to be drawn.
  BagDraw(const Bag& bag, const BagRows& rows, std::uint64_t seed);

  // How often each row of the table is in the bag of a tree.
  void counts(std::uint32_t tree, std::vector<std::uint32_t>& counts) const;

  // The sum of the counts of any bag.
  std::uint64_t n_drawn() const { return groups_.size() * n_of_group_; }

  // Any count is below 2^this: what is weighed by counts needs so many bits more.
  int count_bits() const;

  std::size_t n_rows() const { return n_rows_; }  // of the table

  // The rows that can be drawn, ascending.
  std::vector<RowIndex> rows() const;

 private:
  void draw(const std::vector<RowIndex>& group, std::uint32_t tree, std::uint64_t number,
            std::vector<std::uint32_t>& counts) const;

  BagKind kind_;
  std::uint64_t seed_;
  std::size_t n_rows_;
  std::size_t n_of_group_ = 0;                 // rows drawn of each group
  std::vector<std::vector<RowIndex>> groups_;  // all rows, or those of each class; ascending
};

// Which columns a tree may use.
struct ColumnDraw {
  FeatureIndex n_columns = -1;    // -1: all
  bool with_replacement = false;  // those drawn again count once
  bool random_number = false;     // uniform on 1 .. n_columns
};

// Ascending, each once.
std::vector<FeatureIndex> draw_columns(const ColumnDraw& draw, FeatureIndex n_features,
                                       std::uint64_t seed, std::uint32_t tree);

enum class SwitchScheme { proportional, uniform };

// How labels are switched.
struct Switching {
  double share = 0.0;  // of the labels that become others; proportional: on average
  SwitchScheme scheme = SwitchScheme::proportional;
};

// Switches labels of some rows of a training set.
class LabelSwitch {
 public:
  // share: at most 1 - sum_k P_k^2 if proportional, below 1 if uniform, else Error(invalid_argument).
  // rows: ascending; they and the labels (one a row of the table) must outlive this.
  LabelSwitch(const Switching& switching, std::span<const RowIndex> rows,
              std::span<const std::uint32_t> labels, std::uint64_t seed);

  // The labels of all rows of the table, for one tree.
  void labels(std::uint32_t tree, std::vector<std::uint32_t>& labels) const;

 private:
  std::uint64_t seed_;
  std::span<const RowIndex> rows_;
  std::span<const std::uint32_t> labels_;
  std::size_t n_taking_part_ = 0;
  // Uniform: the classes of the rows, ascending, and the place of each class among them. Else empty.
  std::vector<std::uint32_t> classes_, place_;
};

}  // namespace arboleda
