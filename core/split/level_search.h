// Finds the best split that all nodes of a level share: symmetric (oblivious) trees, as in
// Prokhorenkova et al. (2018), "CatBoost: unbiased boosting with categorical features". The score of
// a split is the sum over the nodes; a node that it cannot split counts with its own score and is
// passed on whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.h"
#include "layout/row_codes.h"
#include "split/histogram.h"
#include "split/histogram_options.h"
#include "split/histogram_search.h"
#include "split/split.h"

namespace arboleda {

struct LevelNode {
  const BoostedNode* node;
  const Histogram* histogram;
  double score;  // of the node itself
  std::span<const std::uint32_t> n_rows =
      {};  // of each code; empty: hessians alone decide what is small
};

// Scratch of one thread.
class LevelSearch {
 public:
  LevelSearch(const BinnedDataset& table, const HistogramOptions& options,
              const HistogramSearch& search)
      : table_(table), options_(options), search_(search) {}

  // Improves `best`, whose score is the sum over all nodes. Without numbers of rows the score is that
  // of a split which may leave a node fewer than min_samples_leaf rows on a side: no less than with.
  void search(std::span<const LevelNode> level, const RowCodes::Column& column, Split& best);

 private:
  void order_codes(std::span<const LevelNode> level, const RowCodes::Column& column,
                   const CodedColumn& codes);
  void forbid_ties();
  void add_scores(const LevelNode& node, const RowCodes::Column& column, Wide missing,
                  std::size_t n_missing);
  void keep(const RowCodes::Column& column, const CodedColumn& codes, bool missing_left,
            Split& best) const;

  const BinnedDataset& table_;
  const HistogramOptions& options_;
  const HistogramSearch& search_;
  std::vector<Code> order_;     // codes in the order in which they join the left side
  std::vector<double> totals_;  // of the split after each of them
  std::vector<std::pair<double, Code>> keyed_;
};

}  // namespace arboleda
