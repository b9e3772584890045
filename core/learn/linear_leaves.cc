#include "learn/linear_leaves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/exact_sum.h"
#include "base/ordered_key.h"
#include "base/shards.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Columns of a leaf, the nearest ones. The work grows with their square, and five of them had a higher
// loss than three on four of six tables.
constexpr std::size_t kMostColumns = 3;
constexpr std::size_t kRoom = kMostColumns + 1;

// A leaf has at most one column for this many of its rows.
constexpr std::size_t kRowsAColumn = 5;

// A sum of hessians below this counts as 0: the loss is flat there.
constexpr double kVanishingTotal = 1e-150;

// Of a diagonal entry: what is left of it below this is rounding.
constexpr double kSingular = 1e-10;

struct Term {
  FeatureIndex feature;
  double coefficient, low, high;
};

struct Plane {
  double intercept = 0.0;
  std::vector<Term> terms;  // none: the leaf stays constant
};

// Symmetric, with room for the most columns.
using Matrix = std::array<std::array<double, kRoom>, kRoom>;
using Vector = std::array<double, kRoom>;

// Solves a w = b for positive definite a, by Cholesky; false where it is not.
bool solve(Matrix a, Vector b, std::size_t k, Vector& w) {
  for (std::size_t i = 0; i < k; ++i) {
    const double whole = a[i][i];
    for (std::size_t j = 0; j <= i; ++j) {
      double left = a[i][j];
      for (std::size_t m = 0; m < j; ++m) left -= a[i][m] * a[j][m];
      if (j < i) {
        a[i][j] = left / a[j][j];
      } else {
        if (!(left > kSingular * whole)) return false;
        a[i][i] = std::sqrt(left);
      }
    }
  }
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t m = 0; m < i; ++m) b[i] -= a[i][m] * b[m];
    b[i] /= a[i][i];
  }
  for (std::size_t i = k; i-- > 0;) {
    for (std::size_t m = i + 1; m < k; ++m) b[i] -= a[m][i] * w[m];
    w[i] = b[i] / a[i][i];
  }
  return true;
}

// The sum of products in whole units. |x| < 2^62, 0 <= y <= 1: two products fit in 64 bits.
ExactSum sum_products(std::span<const double> x, std::span<const double> y) {
  ExactSum sum;
  std::size_t i = 0;
  for (; i + 1 < x.size(); i += 2) {
    sum.add(static_cast<std::int64_t>(x[i] * y[i]) +
            static_cast<std::int64_t>(x[i + 1] * y[i + 1]));
  }
  if (i < x.size()) sum.add(static_cast<std::int64_t>(x[i] * y[i]));
  return sum;
}

// A column that a leaf may use, and the range of its values there.
struct LeafColumn {
  FeatureIndex feature;
  std::size_t rank = 0;  // 0 for the one nearest to the leaf
  std::size_t slot = 0;  // where a LeafFit has its values
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_missing = false;

  bool varies() const { return low < high; }
};

// All that the plane of a leaf follows from. Where the table lies in shards, each has the numbers of its own
// rows, until they are shared.
struct LeafNumbers {
  std::vector<LeafColumn> columns;  // that may be used, nearest first; then those chosen
  Magnitude gradient, hessian;
  std::uint64_t n_rows = 0;
  std::vector<ExactSum> sums;  // none: the leaf stays constant

  bool lacks_values() const {
    return std::any_of(columns.begin(), columns.end(),
                       [](const LeafColumn& column) { return column.has_missing; });
  }
};

// Where the sums have that of g z_i; those of h z_i z_j, j = 0 .. i, come after it.
std::size_t place_of_sums(std::size_t i) { return i * (i + 3) / 2; }

// Finds the numbers of one leaf after the other, in stages: between two of them, shards share what they have.
// One a worker.
class LeafFit {
 public:
  LeafFit(const BinnedDataset& table, std::span<const double> gradient,
          std::span<const double> hessian, bool is_alone)
      : table_(table), gradient_(gradient), hessian_(hessian), is_alone_(is_alone) {}

  // Ranges of the columns, up to the last that may be chosen: what varies in a shard varies in all of them, so
  // those behind it can be passed over.
  void find_ranges(std::span<const RowIndex> rows, LeafNumbers& leaf) {
    if (leaf.columns.empty()) return;
    std::size_t n_varying = 0;
    for (LeafColumn& column : leaf.columns) {
      if (n_varying == kMostColumns) break;
      column.slot = n_varying;
      read(column, rows);
      find_range(column);
      if (column.varies()) ++n_varying;
    }
    read_derivatives(rows);
    find_magnitudes(leaf);
  }

  // Chooses the first columns that vary. Where rows lack a value of these, ranges of the other rows.
  void find_complete_ranges(std::span<const RowIndex> rows, LeafNumbers& leaf) {
    std::erase_if(leaf.columns, [](const LeafColumn& column) { return !column.varies(); });
    leaf.columns.resize(std::min(leaf.columns.size(), kMostColumns));
    if (!leaf.lacks_values()) return;
    if (!is_alone_) read_all(rows, leaf);
    keep_complete(leaf);
    for (LeafColumn& column : leaf.columns) find_range(column);
    find_magnitudes(leaf);
  }

  // Sums over the rows, of g z and h z z', where z = (1, z_1, .., z_k), all z are in [0, 1], and columns
  // ascend. None where a gradient or a hessian is no finite number.
  void add_up(std::span<const RowIndex> rows, LeafNumbers& leaf) {
    if (leaf.columns.empty() || !leaf.gradient.is_finite() || !leaf.hessian.is_finite()) return;
    if (!is_alone_) {
      read_all(rows, leaf);
      if (leaf.lacks_values()) keep_complete(leaf);
    }
    std::erase_if(leaf.columns, [](const LeafColumn& column) {
      return !column.varies() || !std::isfinite(column.high - column.low);
    });
    if (leaf.columns.empty()) return;
    std::sort(leaf.columns.begin(), leaf.columns.end(),
              [](const LeafColumn& a, const LeafColumn& b) { return a.feature < b.feature; });
    leaf.n_rows = g_rows_.size();
    add_products(leaf);
  }

 private:
  std::vector<double>& x_of(const LeafColumn& column) { return x_[column.slot]; }

  void read(const LeafColumn& column, std::span<const RowIndex> rows) {
    std::vector<double>& x = x_of(column);
    x.resize(rows.size());
    const ColumnView values = table_.columns[static_cast<std::size_t>(column.feature)].source;
    values.with_type([&]<class T>(T) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(values.as<T>(rows[i]));
    });
  }

  // The values of the chosen columns.
  void read_all(std::span<const RowIndex> rows, LeafNumbers& leaf) {
    for (std::size_t i = 0; i < leaf.columns.size(); ++i) {
      leaf.columns[i].slot = i;
      read(leaf.columns[i], rows);
    }
    read_derivatives(rows);
  }

  void read_derivatives(std::span<const RowIndex> rows) {
    read_rows(gradient_, rows, g_rows_);
    read_rows(hessian_, rows, h_rows_);
  }

  // One a row of the leaf; no values: all are 1.
  static void read_rows(std::span<const double> values, std::span<const RowIndex> rows,
                        std::vector<double>& out) {
    out.resize(rows.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = values.empty() ? 1.0 : values[rows[i]];
  }

  void find_range(LeafColumn& column) {
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    bool lacks = false;
    for (const double value : x_of(column)) {
      least = value < least ? value : least;
      largest = value > largest ? value : largest;
      lacks |= value != value;
    }
    // 0.0 for -0.0, whichever row comes first.
    column.low = least + 0.0;
    column.high = largest + 0.0;
    column.has_missing |= lacks;
  }

  void find_magnitudes(LeafNumbers& leaf) const {
    leaf.gradient = magnitude_of(g_rows_);
    leaf.hessian = magnitude_of(h_rows_);
  }

  // Drops the rows that lack a value.
  void keep_complete(const LeafNumbers& leaf) {
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < g_rows_.size(); ++i) {
      const bool complete = std::all_of(
          leaf.columns.begin(), leaf.columns.end(),
          [&](const LeafColumn& column) { return x_[column.slot][i] == x_[column.slot][i]; });
      if (!complete) continue;
      for (const LeafColumn& column : leaf.columns) x_of(column)[n_kept] = x_of(column)[i];
      g_rows_[n_kept] = g_rows_[i];
      h_rows_[n_kept++] = h_rows_[i];
    }
    for (const LeafColumn& column : leaf.columns) x_of(column).resize(n_kept);
    g_rows_.resize(n_kept);
    h_rows_.resize(n_kept);
  }

  void add_products(LeafNumbers& leaf) {
    const std::size_t n = g_rows_.size();
    const SumScale g_scale(leaf.gradient), h_scale(leaf.hessian);
    for (double& g : g_rows_) g = g_scale.in_units(g);
    for (double& h : h_rows_) h = h_scale.in_units(h);
    for (const LeafColumn& column : leaf.columns) {
      const double low = column.low, range = column.high - low;
      for (double& x : x_of(column)) x = (x - low) / range;
    }
    ones_.assign(n, 1.0);
    const auto z = [&](std::size_t i) -> std::span<const double> {
      return i == 0 ? ones_ : x_of(leaf.columns[i - 1]);
    };
    h_by_z_.resize(n);
    for (std::size_t i = 0; i <= leaf.columns.size(); ++i) {
      leaf.sums.push_back(sum_products(g_rows_, z(i)));
      for (std::size_t row = 0; row < n; ++row) h_by_z_[row] = h_rows_[row] * z(i)[row];
      for (std::size_t j = 0; j <= i; ++j) leaf.sums.push_back(sum_products(h_by_z_, z(j)));
    }
  }

  const BinnedDataset& table_;
  const std::span<const double> gradient_, hessian_;
  const bool is_alone_;  // then each stage finds here what the one before has left

  // Of the leaf at hand, one a row.
  std::array<std::vector<double>, kMostColumns> x_;
  std::vector<double> g_rows_, h_rows_, h_by_z_, ones_;
};

// Ranges and magnitudes of all shards, which have the same leaves and columns.
void share_ranges(const Shards& shards, std::span<LeafNumbers* const> leaves) {
  if (leaves.empty()) return;
  std::vector<std::uint64_t> words;
  for (const LeafNumbers* leaf : leaves) {
    words.insert(words.end(), {leaf->gradient.bits(), leaf->hessian.bits()});
    for (const LeafColumn& column : leaf->columns) {
      words.insert(words.end(),
                   {~word_of_key(ordered_key(column.low)), word_of_key(ordered_key(column.high)),
                    column.has_missing ? 1U : 0U});
    }
  }
  shards.maximum(words);
  auto next = words.begin();
  for (LeafNumbers* leaf : leaves) {
    leaf->gradient.see_bits(*next++);
    leaf->hessian.see_bits(*next++);
    for (LeafColumn& column : leaf->columns) {
      column.low = value_of_key(key_of_word(~*next++));
      column.high = value_of_key(key_of_word(*next++));
      column.has_missing = *next++ > 0;
    }
  }
}

void share_sums(const Shards& shards, std::span<LeafNumbers* const> leaves) {
  if (leaves.empty()) return;
  std::vector<ExactSum> all;
  for (const LeafNumbers* leaf : leaves) {
    all.emplace_back(static_cast<Int128>(leaf->n_rows));
    all.insert(all.end(), leaf->sums.begin(), leaf->sums.end());
  }
  add_all(&shards, std::span(all));
  auto next = all.begin();
  for (LeafNumbers* leaf : leaves) {
    leaf->n_rows = static_cast<std::uint64_t>((next++)->units());
    for (ExactSum& sum : leaf->sums) sum = *next++;
  }
}

// Through `centre` at the means; none where a number leaves float64.
Plane plane_through(double centre, std::span<const LeafColumn* const> columns, const Vector& mean,
                    const Vector& slope) {
  Plane found{centre, {}};
  double bound = std::abs(centre);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const LeafColumn& column = *columns[i];
    found.intercept -= slope[i] * mean[i];
    const double coefficient = slope[i] / (column.high - column.low);
    bound += 2.0 * (std::abs(slope[i]) + std::abs(coefficient) * (column.high - column.low));
    found.terms.push_back({column.feature, coefficient, column.low, column.high});
  }
  return std::isfinite(bound) ? found : Plane{};
}

// The plane of a leaf with the numbers of all shards.
Plane plane_of(const LeafNumbers& leaf, double l2, double slope_l2) {
  if (leaf.sums.empty()) return {};
  // The nearest columns, as many as there are rows for.
  std::vector<const LeafColumn*> columns;
  std::vector<std::size_t> place{0};  // of 1 and of the columns among the z
  for (std::size_t i = 0; i < leaf.columns.size(); ++i) {
    const auto n_nearer = static_cast<std::uint64_t>(
        std::count_if(leaf.columns.begin(), leaf.columns.end(),
                      [&](const LeafColumn& other) { return other.rank < leaf.columns[i].rank; }));
    if (n_nearer >= leaf.n_rows / kRowsAColumn) continue;
    columns.push_back(&leaf.columns[i]);
    place.push_back(i + 1);
  }
  const std::size_t k = columns.size();
  if (k == 0) return {};
  const SumScale g_scale(leaf.gradient), h_scale(leaf.hessian);
  Vector g{};
  Matrix h{};
  for (std::size_t i = 0; i <= k; ++i) {
    const auto row = std::span(leaf.sums).subspan(place_of_sums(place[i]));
    g[i] = row[0].to_real(g_scale);
    for (std::size_t j = 0; j <= i; ++j) h[i][j] = row[1 + place[j]].to_real(h_scale);
  }
  const double total = h[0][0];
  if (!(total >= kVanishingTotal)) return {};
  Matrix a{};
  Vector b{}, mean{}, slope{};
  for (std::size_t i = 0; i < k; ++i) mean[i] = h[i + 1][0] / total;
  for (std::size_t i = 0; i < k; ++i) {
    b[i] = mean[i] * g[0] - g[i + 1];
    for (std::size_t j = 0; j <= i; ++j) a[i][j] = h[i + 1][j + 1] - mean[i] * h[j + 1][0];
    a[i][i] += slope_l2;
  }
  if (!solve(a, b, k, slope)) return {};
  return plane_through(-g[0] / (total + l2), columns, mean, slope);
}

// Numeric columns on the way from a leaf to the root, each once.
std::vector<LeafColumn> columns_above(const BinnedDataset& table, const TreeArrays& tree,
                                      std::span<const NodeIndex> parent, NodeIndex leaf) {
  std::vector<LeafColumn> columns;
  for (NodeIndex node = parent[static_cast<std::size_t>(leaf)]; node >= 0;
       node = parent[static_cast<std::size_t>(node)]) {
    const FeatureIndex feature = tree.feature[static_cast<std::size_t>(node)];
    const CodedColumn& column = table.columns[static_cast<std::size_t>(feature)];
    if (column.is_categorical) continue;
    require(column.source.data != nullptr || table.n_rows == 0,
            "linear leaves need the values of the columns: give a dense table");
    if (std::none_of(columns.begin(), columns.end(),
                     [&](const LeafColumn& other) { return other.feature == feature; })) {
      columns.push_back({.feature = feature, .rank = columns.size()});
    }
  }
  return columns;
}

LinearLeaves in_order(const TreeArrays& tree, const LeafRows& leaves,
                      std::span<const Plane> planes) {
  const std::size_t n_nodes = tree.right.size();
  std::vector<const Plane*> of_node(n_nodes, nullptr);
  std::size_t n_terms = 0;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    of_node[static_cast<std::size_t>(leaves.leaves[i].node)] = &planes[i];
    n_terms += planes[i].terms.size();
  }
  if (n_terms == 0) return {};
  LinearLeaves linear;
  linear.start = {0};
  linear.intercept.resize(n_nodes);
  for (std::size_t node = 0; node < n_nodes; ++node) {
    if (const Plane* plane = of_node[node]; plane != nullptr && !plane->terms.empty()) {
      linear.intercept[node] = plane->intercept;
      for (const Term& term : plane->terms) {
        linear.feature.push_back(term.feature);
        linear.coefficient.push_back(term.coefficient);
        linear.low.push_back(term.low);
        linear.high.push_back(term.high);
      }
    }
    linear.start.push_back(static_cast<std::int64_t>(linear.feature.size()));
  }
  return linear;
}

}  // namespace

LinearLeaves fit_linear_leaves(const BinnedDataset& table, const TreeArrays& tree,
                               const LeafRows& leaves, std::span<const double> gradient,
                               std::span<const double> hessian, double l2, double slope_l2,
                               const Context& context) {
  using Stage = void (LeafFit::*)(std::span<const RowIndex>, LeafNumbers&);
  constexpr std::array<Stage, 3> stages{&LeafFit::find_ranges, &LeafFit::find_complete_ranges,
                                        &LeafFit::add_up};
  const Shards* shards = context.shards();
  const std::vector<NodeIndex> parent = parents_of(tree);
  std::vector<LeafNumbers> numbers(leaves.leaves.size());
  std::vector<Plane> planes(numbers.size());
  const int n_threads = leaves.rows.size() >= kParallelWork ? std::max(1, context.n_threads()) : 1;
  std::vector<LeafFit> fits(static_cast<std::size_t>(n_threads),
                            LeafFit(table, gradient, hessian, shards == nullptr));
  const auto run = [&](std::size_t first, std::size_t end) {
    parallel_for(n_threads, numbers.size(), [&](std::size_t task, int worker) {
      context.check();
      const LeafRows::Leaf& leaf = leaves.leaves[task];
      const auto rows = std::span(leaves.rows).subspan(leaf.begin, leaf.end - leaf.begin);
      if (first == 0) numbers[task].columns = columns_above(table, tree, parent, leaf.node);
      for (std::size_t i = first; i < end; ++i) {
        (fits[static_cast<std::size_t>(worker)].*stages[i])(rows, numbers[task]);
      }
      if (shards == nullptr)
        planes[task] = plane_of(std::exchange(numbers[task], {}), l2, slope_l2);
    });
  };
  if (shards == nullptr) {
    run(0, stages.size());
    return in_order(tree, leaves, planes);
  }
  const auto select = [&](bool (*needs)(const LeafNumbers&)) {
    std::vector<LeafNumbers*> some;
    for (LeafNumbers& leaf : numbers) {
      if (needs(leaf)) some.push_back(&leaf);
    }
    return some;
  };
  run(0, 1);
  share_ranges(*shards, select([](const LeafNumbers& leaf) { return !leaf.columns.empty(); }));
  run(1, 2);
  share_ranges(*shards, select([](const LeafNumbers& leaf) { return leaf.lacks_values(); }));
  run(2, 3);
  share_sums(*shards, select([](const LeafNumbers& leaf) { return !leaf.sums.empty(); }));
  for (std::size_t i = 0; i < planes.size(); ++i) planes[i] = plane_of(numbers[i], l2, slope_l2);
  return in_order(tree, leaves, planes);
}

void scale(LinearLeaves& leaves, double factor) {
  for (double& x : leaves.intercept) x *= factor;
  for (double& x : leaves.coefficient) x *= factor;
}

}  // namespace arboleda
