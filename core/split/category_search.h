// The best split of a node by the categories of one feature.
//
// Two sides of a target ordered by its mean over each category: the best of all 2^(C-1) - 1 ways to
// part C categories is among the C - 1 cuts of that order (Fisher 1958; Breiman et al. 1984, theorem
// 4.5 and section 8.8), for squared error, Poisson deviance, and the impurities of two classes. For
// more classes the order by the share of one class, tried for each of the node's largest classes, is
// a heuristic, and so is the mean for the absolute error.
//
// Missing is one more category. Categories with the same target statistic stay together, so that
// nothing depends on their numbers; if all have the same one, they are separated in that order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"
#include "data/pair_sorter.h"
#include "split/category_groups.h"
#include "split/node_view.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// Scratch of one thread.
template <class Criterion>
class CategorySearch {
 public:
  CategorySearch(const Criterion& criterion, const SplitLimits& limits)
      : criterion_(criterion), limits_(limits), sides_(criterion.make_sides()) {}

  // codes: one a row of the node, below n_codes; get_missing_code: n_codes - 1, or n_codes if the column
  // has none. Improves `best`; false when all rows have the same code.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, std::span<const Code> codes,
              std::size_t n_codes, Code get_missing_code, Split& best) {
    group_rows(node, codes, n_codes);
    return search_groups(node, node.rows.size(), feature, get_missing_code, best);
  }

  // The same from the cells of all codes. node: no rows, but the total of its n_rows.
  bool search_cells(const NodeView<Criterion>& node, std::uint64_t n_rows, FeatureIndex feature,
                    std::span<const typename Criterion::Slot> cells, Code get_missing_code,
                    Split& best) {
    cells_.assign(cells.begin(), cells.end());
    has_cells_ = true;
    list_groups(cells.size() / criterion_.width());
    return search_groups(node, n_rows, feature, get_missing_code, best);
  }

 private:
  using Slot = typename Criterion::Slot;

  bool search_groups(const NodeView<Criterion>& node, std::uint64_t n_rows, FeatureIndex feature,
                     Code get_missing_code, Split& best) {
    if (groups_.size() < 2) return false;
    criterion_.category_orders(node.total, orders_);
    bool any_order = false;
    for (const std::uint32_t order : orders_) {
      if (!sort_groups(node, order)) continue;
      any_order = true;
      scan(node, n_rows, feature, get_missing_code, best);
    }
    if (!any_order) {
      for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].key = static_cast<double>(g);
      scan(node, n_rows, feature, get_missing_code, best);
    }
    return true;
  }

  // By histogram while there are enough rows to fill it, else by sorting.
  void group_rows(const NodeView<Criterion>& node, std::span<const Code> codes,
                  std::size_t n_codes) {
    has_cells_ = false;
    if constexpr (Criterion::kHasCells) {
      has_cells_ = n_codes * criterion_.width() <= kSlotsARow * codes.size();
      if (has_cells_) return fill_cells(node, codes, n_codes);
    }
    group_by_category(codes, n_codes, sorter_, keys_, groups_);
  }

  void fill_cells(const NodeView<Criterion>& node, std::span<const Code> codes,
                  std::size_t n_codes) {
    cells_.assign(n_codes * criterion_.width(), Slot{});
    for (std::size_t i = 0; i < codes.size(); ++i) criterion_.add(node.local, i, cell(codes[i]));
    list_groups(n_codes);
  }

  // Those whose cells have rows.
  void list_groups(std::size_t n_codes) {
    groups_.clear();
    for (Code code = 0; code < n_codes; ++code) {
      if (criterion_.n_rows(cell(code)) > 0) groups_.push_back({code, 0, 0});
    }
  }

  Slot* cell(Code code) { return &cells_[code * criterion_.width()]; }

  std::span<const SortKey> rows_of(const CategoryGroup& group) const {
    return std::span<const SortKey>(keys_).subspan(group.begin, group.end - group.begin);
  }

  // False when all categories are equal in the order.
  bool sort_groups(const NodeView<Criterion>& node, std::uint32_t order) {
    for (CategoryGroup& group : groups_) {
      group.key = criterion_.category_key(sum(node, group), order);
    }
    return sort_by_key(groups_);
  }

  const Slot* sum(const NodeView<Criterion>& node, const CategoryGroup& group) {
    if (has_cells_) return cell(group.code);
    cells_.assign(criterion_.width(), Slot{});
    for (const SortKey key : rows_of(group)) {
      criterion_.add(node.local, place_of(key), cells_.data());
    }
    return cells_.data();
  }

  void move(const NodeView<Criterion>& node, const CategoryGroup& group) {
    if constexpr (Criterion::kHasCells) {
      if (has_cells_) return sides_.move_cell(cell(group.code));
    }
    for (const SortKey key : rows_of(group)) {
      criterion_.move_row(node.local, place_of(key), sides_);
    }
  }

  void scan(const NodeView<Criterion>& node, std::uint64_t n_rows, FeatureIndex feature,
            Code get_missing_code, Split& best) {
    Split found = best;
    sides_.reset(node.total, n_rows);
    Scan<typename Criterion::Sides> scan(sides_, limits_, feature, false, found);
    // To the scan, a category's code is its rank in the order.
    Code rank = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g > 0 && groups_[g].key != groups_[g - 1].key) rank = static_cast<Code>(g);
      scan.before(rank);
      move(node, groups_[g]);
    }
    if (!found.better_than(best)) return;
    send_left(groups_, found.next_code, get_missing_code, found);
    best = std::move(found);
  }

  const Criterion& criterion_;
  const SplitLimits& limits_;
  typename Criterion::Sides sides_;
  PairSorter sorter_;
  std::vector<SortKey> keys_;
  std::vector<CategoryGroup> groups_;
  std::vector<std::uint32_t> orders_;
  bool has_cells_ = false;  // cells_ is a histogram; else keys_ holds the rows of each group
  std::vector<Slot> cells_;
};

}  // namespace arboleda
