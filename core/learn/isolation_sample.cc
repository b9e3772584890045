#include "learn/isolation_sample.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

IsolationSample::IsolationSample(const IsolationRows& rows, const IsolationOptions& options,
                                 std::uint64_t seed, std::uint32_t tree)
    : columns_(draw_columns(options.columns, static_cast<FeatureIndex>(rows.table.n_columns), seed,
                            tree)) {
  auto drawn = draw_isolated_rows(options, rows.table.n_rows, rows.weights, seed, tree);
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  n_rows_ = drawn.size();
  cell_.reserve(columns_.size() * n_rows_);
  for (const FeatureIndex column : columns_) {
    const auto j = static_cast<std::size_t>(column);
    const bool is_category = !rows.n_levels.empty() && rows.n_levels[j] > 0;
    for (const RowIndex row : drawn) {
      const double x = rows.table.at(row, j);
      const bool is_missing = is_category && x == kNoCategory;
      cell_.push_back(is_missing ? std::numeric_limits<double>::quiet_NaN() : x);
    }
  }
}

std::vector<VaryingColumn> VaryingColumns::draw(std::span<const std::uint32_t> rows,
                                                std::size_t wanted, std::size_t& n_left,
                                                QuickStream& random) {
  std::vector<VaryingColumn> drawn;
  // [0, n_open): not looked at;  [n_open, n_left): drawn;  from n_left on: constant.
  for (std::size_t n_open = n_left; n_open > 0 && drawn.size() < wanted;) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(n_open--));
    std::swap(columns_[i], columns_[n_open]);
    const VaryingColumn found = find_range(rows, columns_[n_open]);
    if (found.lowest < found.highest) {
      drawn.push_back(found);
    } else {
      std::swap(columns_[n_open], columns_[--n_left]);
    }
  }
  return drawn;
}

VaryingColumn VaryingColumns::find_range(std::span<const std::uint32_t> rows,
                                         std::size_t column) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  VaryingColumn range{column, kInfinity, -kInfinity};
  for (const std::uint32_t row : rows) {
    const double x = sample_.at(row, column);  // comparisons with NaN are false
    if (x < range.lowest) range.lowest = x;
    if (x > range.highest) range.highest = x;
  }
  return range;
}

double draw_between(double lowest, double highest, QuickStream& random) {
  const double u = random.uniform();
  const double x = lowest * (1.0 - u) + highest * u;  // the difference may overflow
  return x >= lowest && x < highest ? x : lowest;
}

void grow_isolation_trees(const IsolationRows& rows, const IsolationOptions& options,
                          const Context& context, const GrowIsolationTree& grow) {
  require(options.n_trees >= 1 &&
              std::uint64_t{options.first_tree} + options.n_trees <= std::uint64_t{1} << 24,
          "a forest has from 1 to 16,777,216 trees");
  require(options.n_drawn >= 1 && rows.table.n_rows >= 1, "a tree needs at least one row");
  require(rows.n_levels.empty() || rows.n_levels.size() == rows.table.n_columns,
          "one number of levels a column is needed");
  const int max_depth = std::max(1, static_cast<int>(std::bit_width(options.n_drawn - 1)));
  parallel_for(context.n_threads(), options.n_trees, [&](std::size_t i, int) {
    context.check();
    const std::uint32_t tree = options.first_tree + static_cast<std::uint32_t>(i);
    grow(i, IsolationSample(rows, options, context.seed(), tree),
         QuickStream::root(context.seed(), Purpose::random_split, tree), max_depth);
  });
}

}  // namespace arboleda
