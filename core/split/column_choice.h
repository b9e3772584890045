// Which columns a node may be split on: shares drawn for each tree, level and node, and sets of
// columns that may meet on one path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/types.h"
#include "layout/row_codes.h"
#include "split/histogram_options.h"

namespace arboleda {

class ColumnChoice {
 public:
  // Numbers of the sets that hold every column of the path so far.
  using Groups = std::vector<std::uint32_t>;
  using Columns = std::vector<std::uint32_t>;  // numbers of RowCodes::columns(), ascending

  ColumnChoice(const RowCodes& codes, const HistogramOptions& options, std::uint64_t seed);

  void begin_tree(std::uint32_t tree);

  const Columns& of_tree() const { return of_tree_; }  // of which those of nodes are drawn

  std::shared_ptr<const Groups> all_groups() const { return all_groups_; }

  // The sets that are left below a split on a feature.
  std::shared_ptr<const Groups> after(const std::shared_ptr<const Groups>& groups,
                                      FeatureIndex feature) const;

  Columns at_node(const Groups& groups, std::int32_t depth, std::uint64_t key) const;

 private:
  Columns draw(Columns columns, double share, RandomStream random) const;
  Columns draw_weighted(const Columns& columns, std::size_t wanted, RandomStream random) const;
  Columns allowed_by(const Groups& groups, const Columns& columns) const;

  const RowCodes& codes_;
  const HistogramOptions& options_;
  std::uint64_t seed_;
  std::uint32_t tree_ = 0;
  Columns of_tree_;
  std::vector<std::vector<FeatureIndex>> sets_;  // sorted
  std::shared_ptr<const Groups> all_groups_;
};

}  // namespace arboleda
