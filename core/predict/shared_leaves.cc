#include "predict/shared_leaves.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"
#include "data/column.h"
#include "predict/leaf_numbers.h"

namespace arboleda {

namespace {

// Rows that one thread takes at a time.
constexpr std::size_t kSharedLeafRows = 64;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// The rows of all groups, one group after the other.
struct Groups {
  explicit Groups(std::span<const std::uint32_t> group) : row(group.size()) {
    const std::size_t n = group.empty() ? 0 : std::size_t{1} + *std::ranges::max_element(group);
    begin.assign(n + 1, 0);
    for (const std::uint32_t g : group) ++begin[g + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < group.size(); ++i) row[next[group[i]]++] = i;
  }

  std::size_t size() const { return begin.size() - 1; }

  std::vector<std::size_t> row;
  std::vector<std::size_t> begin;
};

// A tree's leaves with rows of one group, numbered from 0 on, and these rows, one leaf after the other.
struct Leaves {
  std::vector<std::uint32_t> of;     // each row of the group
  std::vector<std::uint32_t> begin;  // of each leaf in `rows`
  std::vector<std::uint32_t> rows;   // by their places in the group

  std::uint32_t size() const { return static_cast<std::uint32_t>(begin.size() - 1); }

  // number: scratch, kNone for every leaf of the tree before and after.
  void find(std::span<const std::uint32_t> leaf_of, std::span<const std::size_t> group,
            std::vector<std::uint32_t>& number) {
    of.resize(group.size());
    begin.assign(1, 0);
    for (std::size_t i = 0; i < group.size(); ++i) {
      std::uint32_t& mine = number[leaf_of[group[i]]];
      if (mine == kNone) {
        mine = size();
        begin.push_back(0);
      }
      of[i] = mine;
      ++begin[mine + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const std::size_t row : group) number[leaf_of[row]] = kNone;
    rows.resize(group.size());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < of.size(); ++i) rows[next[of[i]]++] = static_cast<std::uint32_t>(i);
  }
};

// The sums of the rows of one group.
class GroupSums {
 public:
  GroupSums(std::vector<Leaves> trees, std::size_t n_rows, const Context& context)
      : trees_(std::move(trees)),
        n_rows_(n_rows),
        n_workers_(static_cast<std::size_t>(std::max(1, context.n_threads()))),
        context_(context) {}

  std::vector<std::uint64_t> sums(SharedLeavesBy by) const {
    if (by == SharedLeavesBy::cheaper) {
      by = steps_by_tree() < steps_by_row() ? SharedLeavesBy::tree : SharedLeavesBy::row;
    }
    return by == SharedLeavesBy::tree ? tree_by_tree() : row_by_row();
  }

 private:
  double steps_by_row() const {
    double steps = 0.0;
    for (const Leaves& tree : trees_) {
      for (std::size_t l = 0; l < tree.size(); ++l) {
        const double n = tree.begin[l + 1] - tree.begin[l];
        steps += n * n;
      }
    }
    return steps;
  }

  // A pair of trees counts every row, reads every count and clears it.
  double steps_by_tree() const {
    const auto n_trees = static_cast<double>(trees_.size());
    return 3.0 * static_cast<double>(n_rows_) * n_trees * (n_trees + 1.0) / 2.0;
  }

  std::vector<std::uint64_t> row_by_row() const {
    std::vector<std::vector<std::uint32_t>> shared(n_workers_);  // with each row, 0 in between
    std::vector<std::vector<std::uint32_t>> met(n_workers_);
    std::vector<std::uint64_t> sums(n_rows_);
    const std::size_t n_tasks = (n_rows_ + kSharedLeafRows - 1) / kSharedLeafRows;
    parallel_for(context_.n_threads(), n_tasks, [&](std::size_t task, int worker) {
      auto& counts = shared[static_cast<std::size_t>(worker)];
      auto& others = met[static_cast<std::size_t>(worker)];
      counts.resize(n_rows_);
      const std::size_t end = std::min(n_rows_, (task + 1) * kSharedLeafRows);
      for (std::size_t i = task * kSharedLeafRows; i < end; ++i) {
        context_.check();
        others.clear();
        for (const Leaves& tree : trees_) {
          const std::uint32_t leaf = tree.of[i];
          for (std::uint32_t p = tree.begin[leaf]; p < tree.begin[leaf + 1]; ++p) {
            if (counts[tree.rows[p]]++ == 0) others.push_back(tree.rows[p]);
          }
        }
        for (const std::uint32_t other : others) {
          const std::uint64_t count = std::exchange(counts[other], 0);
          sums[i] += count * count;
        }
      }
    });
    return sums;
  }

  std::vector<std::uint64_t> tree_by_tree() const {
    std::vector<std::vector<std::uint64_t>> parts(n_workers_);
    std::vector<std::vector<std::uint32_t>> counts(n_workers_);
    parallel_for(context_.n_threads(), trees_.size(), [&](std::size_t task, int worker) {
      const std::size_t t = trees_.size() - 1 - task;  // the one with most partners first
      auto& sums = parts[static_cast<std::size_t>(worker)];
      sums.resize(n_rows_);
      for (std::size_t s = 0; s <= t; ++s) {
        context_.check();
        // (s, t) stands for (t, s), too.
        add_pair(trees_[s], trees_[t], s == t ? 1 : 2, counts[static_cast<std::size_t>(worker)],
                 sums);
      }
    });
    std::vector<std::uint64_t> sums(n_rows_);
    for (const auto& part : parts) {
      for (std::size_t i = 0; i < part.size(); ++i) sums[i] += part[i];
    }
    return sums;
  }

  // counts: scratch, 0 for every leaf before and after.
  static void add_pair(const Leaves& s, const Leaves& t, std::uint64_t times,
                       std::vector<std::uint32_t>& counts, std::vector<std::uint64_t>& sums) {
    if (counts.size() < t.size()) counts.resize(t.size());
    for (std::size_t l = 0; l < s.size(); ++l) {
      const auto rows = std::span(s.rows).subspan(s.begin[l], s.begin[l + 1] - s.begin[l]);
      for (const std::uint32_t i : rows) ++counts[t.of[i]];
      for (const std::uint32_t i : rows) sums[i] += times * counts[t.of[i]];
      for (const std::uint32_t i : rows) counts[t.of[i]] = 0;
    }
  }

  const std::vector<Leaves> trees_;
  const std::size_t n_rows_;
  const std::size_t n_workers_;
  const Context& context_;
};

}  // namespace

template <class Table>
std::vector<std::uint64_t> squared_shared_leaves(const Forest& forest, const Table& table,
                                                 std::span<const std::uint32_t> group,
                                                 const Context& context, SharedLeavesBy by) {
  require(group.size() == table.n_rows, "one group a row is needed");
  for (const std::uint32_t g : group) require(g < group.size(), "groups are numbered from 0 on");
  const Groups groups(group);
  const std::vector<std::vector<std::uint32_t>> leaf_of = leaf_numbers(forest, table, context);
  std::vector<std::vector<std::uint32_t>> number(forest.trees.size());
  for (std::size_t t = 0; t < number.size(); ++t) {
    number[t].assign(forest.trees[t].n_leaves(), kNone);
  }
  std::vector<std::uint64_t> sums(table.n_rows);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto rows =
        std::span(groups.row).subspan(groups.begin[g], groups.begin[g + 1] - groups.begin[g]);
    std::vector<Leaves> trees(forest.trees.size());
    parallel_for(context.n_threads(), trees.size(), [&](std::size_t t, int) {
      context.check();
      trees[t].find(leaf_of[t], rows, number[t]);
    });
    const std::vector<std::uint64_t> of_group =
        GroupSums(std::move(trees), rows.size(), context).sums(by);
    for (std::size_t i = 0; i < rows.size(); ++i) sums[rows[i]] = of_group[i];
  }
  return sums;
}

template std::vector<std::uint64_t> squared_shared_leaves(const Forest&, const TableView&,
                                                          std::span<const std::uint32_t>,
                                                          const Context&, SharedLeavesBy);
template std::vector<std::uint64_t> squared_shared_leaves(const Forest&, const SparseRows&,
                                                          std::span<const std::uint32_t>,
                                                          const Context&, SharedLeavesBy);

}  // namespace arboleda
