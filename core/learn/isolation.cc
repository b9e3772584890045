#include "learn/isolation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "learn/isolation_sample.h"
#include "objective/weighted_quantile.h"
#include "simd/stable_math.h"

namespace arboleda {

namespace {

// So many rows of all, each set of them as likely as any: rows are drawn until so many are different. Of
// more than half of the rows, those that are left out are drawn.
std::vector<RowIndex> draw_distinct(std::size_t n_rows, std::size_t wanted, QuickStream& random) {
  const std::size_t n_chosen = std::min(wanted, n_rows - wanted);
  std::vector<RowIndex> chosen;
  while (chosen.size() < n_chosen) {
    for (std::size_t missing = n_chosen - chosen.size(); missing > 0; --missing) {
      chosen.push_back(random.below(static_cast<std::uint32_t>(n_rows)));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  if (n_chosen == wanted) return chosen;
  std::vector<RowIndex> others;
  auto next = chosen.begin();
  for (RowIndex row = 0; row < n_rows; ++row) {
    if (next != chosen.end() && *next == row) {
      ++next;
    } else {
      others.push_back(row);
    }
  }
  return others;
}

// One after the other, each with probability in proportion to its weight among those that are left: the
// rows with the smallest of exponential times of these rates. P. S. Efraimidis, P. G. Spirakis (2006),
// "Weighted random sampling with a reservoir", Information Processing Letters 97.
std::vector<RowIndex> draw_distinct_weighted(std::span<const double> weights, std::size_t wanted,
                                             std::uint64_t root) {
  std::vector<double> times;
  std::vector<RowIndex> able;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    times.push_back(-stable_log(QuickStream(root, i).uniform() + 0x1p-54) / weights[i]);
    able.push_back(static_cast<RowIndex>(i));
  }
  if (wanted >= able.size()) return able;
  const double level = static_cast<double>(wanted) / static_cast<double>(able.size());
  const double last = weighted_quantile(times, {}, level, Between::lower);
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < able.size() && rows.size() < wanted; ++i) {
    if (times[i] <= last) rows.push_back(able[i]);
  }
  return rows;
}

std::vector<RowIndex> draw_weighted(std::span<const double> weights, std::size_t wanted,
                                    QuickStream& random) {
  std::vector<double> up_to;
  std::vector<RowIndex> able;
  double total = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    up_to.push_back(total += weights[i]);
    able.push_back(static_cast<RowIndex>(i));
  }
  std::vector<RowIndex> rows;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto at = std::upper_bound(up_to.begin(), up_to.end() - 1, random.uniform() * total);
    rows.push_back(able[static_cast<std::size_t>(at - up_to.begin())]);
  }
  return rows;
}

class IsolationTreeGrower {
 public:
  IsolationTreeGrower(const IsolationSample& sample, std::span<const std::int64_t> n_levels,
                      FeatureIndex n_features, std::uint64_t root, int max_depth)
      : sample_(sample),
        n_levels_(n_levels),
        varying_(sample),
        rows_(sample.n_rows()),
        root_(root),
        max_depth_(max_depth) {
    std::iota(rows_.begin(), rows_.end(), std::uint32_t{0});
    tree_.n_features = n_features;
    tree_.n_outputs = 1;
  }

  TreeArrays grow() {
    grow_node(rows_, 0, 1, sample_.n_columns(), -1);
    return std::move(tree_);
  }

 private:
  void grow_node(std::span<std::uint32_t> rows, int depth, std::uint64_t key, std::size_t n_columns,
                 NodeIndex right_of) {
    QuickStream random(root_, key);
    std::vector<VaryingColumn> drawn;
    if (depth < max_depth_ && rows.size() > 1) drawn = varying_.draw(rows, 1, n_columns, random);
    TreeNode node{drawn.empty(),
                  0,
                  0.0,
                  false,
                  0.0,
                  static_cast<std::int64_t>(rows.size()),
                  static_cast<double>(rows.size())};
    std::array<double, 1> value{0.0};
    if (node.is_leaf) {
      value[0] = depth + mean_path_length(rows.size());
      append_node(tree_, node, value, right_of);
      return;
    }
    const std::size_t n_left = split(rows, drawn.front(), random, node);
    const NodeIndex parent = append_node(tree_, node, value, right_of);
    grow_node(rows.first(n_left), depth + 1, child_key(key, true), n_columns, -1);
    grow_node(rows.subspan(n_left), depth + 1, child_key(key, false), n_columns, parent);
  }

  // Draws the split and moves the rows that go left to the front; returns their number.
  std::size_t split(std::span<std::uint32_t> rows, const VaryingColumn& drawn, QuickStream& random,
                    TreeNode& node) {
    node.feature = sample_.feature(drawn.column);
    const bool is_category =
        !n_levels_.empty() && n_levels_[static_cast<std::size_t>(node.feature)] > 0;
    if (is_category) {
      draw_levels(rows, drawn.column, random);
    } else {
      node.threshold = draw_between(drawn.lowest, drawn.highest, random);
    }
    const auto goes_left = [&](double x) {
      return is_category ? goes_left_[static_cast<std::size_t>(x)] == 1 : x <= node.threshold;
    };
    std::size_t n_left = 0, n_right = 0;
    for (const std::uint32_t row : rows) {
      const double x = sample_.at(row, drawn.column);
      if (x == x) ++(goes_left(x) ? n_left : n_right);
    }
    node.missing_left = n_left >= n_right;
    if (is_category) list_levels(node);
    const auto end = std::partition(rows.begin(), rows.end(), [&](std::uint32_t row) {
      const double x = sample_.at(row, drawn.column);
      return x == x ? goes_left(x) : node.missing_left;
    });
    return static_cast<std::size_t>(end - rows.begin());
  }

  // Levels that are present: 1 left, 0 right; the others: 2.
  void draw_levels(std::span<const std::uint32_t> rows, std::size_t column, QuickStream& random) {
    goes_left_.assign(
        static_cast<std::size_t>(n_levels_[static_cast<std::size_t>(sample_.feature(column))]), 2);
    for (const std::uint32_t row : rows) {
      const double x = sample_.at(row, column);
      if (x == x) goes_left_[static_cast<std::size_t>(x)] = 0;
    }
    for (bool any_left = false, any_right = false; !any_left || !any_right;) {
      any_left = any_right = false;
      for (std::uint8_t& level : goes_left_) {
        if (level == 2) continue;
        level = static_cast<std::uint8_t>(random.next() >> 31);
        (level == 1 ? any_left : any_right) = true;
      }
    }
  }

  // Those that go the other way than missing values.
  void list_levels(TreeNode& node) {
    listed_.clear();
    for (std::size_t level = 0; level < goes_left_.size(); ++level) {
      if (goes_left_[level] == (node.missing_left ? 0 : 1)) {
        listed_.push_back(static_cast<CategoryIndex>(level));
      }
    }
    node.categories = listed_;
  }

  const IsolationSample& sample_;
  std::span<const std::int64_t> n_levels_;
  VaryingColumns varying_;
  std::vector<std::uint32_t> rows_;  // of the sample
  std::uint64_t root_;               // of the random numbers
  int max_depth_;
  TreeArrays tree_;
  std::vector<std::uint8_t> goes_left_;
  std::vector<CategoryIndex> listed_;
};

}  // namespace

double mean_path_length(std::size_t n) {
  constexpr double kEuler = 0.57721566490153286;
  if (n <= 2) return n == 2 ? 1.0 : 0.0;
  const auto others = static_cast<double>(n - 1);
  return 2.0 * (stable_log(others) + kEuler) - 2.0 * others / static_cast<double>(n);
}

std::vector<RowIndex> draw_isolated_rows(const IsolationOptions& options, std::size_t n_rows,
                                         std::span<const double> weights, std::uint64_t seed,
                                         std::uint32_t tree) {
  require(weights.empty() || weights.size() == n_rows, "one weight a row is needed");
  require(weights.empty() ||
              std::any_of(weights.begin(), weights.end(), [](double w) { return w > 0.0; }),
          "at least one row of positive weight is needed");
  require(options.with_replacement || options.n_drawn <= n_rows,
          "a tree cannot have more rows than the table");
  const std::uint64_t root = QuickStream::root(seed, Purpose::bag, tree);
  QuickStream random(root, 0);
  std::vector<RowIndex> rows;
  if (!weights.empty()) {
    rows = options.with_replacement ? draw_weighted(weights, options.n_drawn, random)
                                    : draw_distinct_weighted(weights, options.n_drawn, root);
  } else if (options.with_replacement) {
    rows.resize(options.n_drawn);
    for (RowIndex& row : rows) row = random.below(static_cast<std::uint32_t>(n_rows));
  } else {
    rows = draw_distinct(n_rows, options.n_drawn, random);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

Forest fit_isolation_forest(const IsolationRows& rows, const IsolationOptions& options,
                            const Context& context) {
  const auto n_features = static_cast<FeatureIndex>(rows.table.n_columns);
  Forest forest{n_features, 1, Measure::squared_error, std::vector<CompactTree>(options.n_trees)};
  grow_isolation_trees(
      rows, options, context,
      [&](std::size_t i, const IsolationSample& sample, std::uint64_t root, int max_depth) {
        IsolationTreeGrower grower(sample, rows.n_levels, n_features, root, max_depth);
        forest.trees[i] = compact(grower.grow(), forest.measure);
      });
  return forest;
}

}  // namespace arboleda
