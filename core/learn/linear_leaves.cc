#include "learn/linear_leaves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/exact_sum.h"
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

// Fits one leaf after the other; one a worker.
class LeafFit {
 public:
  LeafFit(const BinnedDataset& table, std::span<const double> gradient,
          std::span<const double> hessian, double l2, double slope_l2)
      : table_(table), gradient_(gradient), hessian_(hessian), l2_(l2), slope_l2_(slope_l2) {}

  // features: of the columns that may be used, nearest to the leaf first.
  Plane fit(std::span<const FeatureIndex> features, std::span<const RowIndex> rows) {
    read(features, rows);
    keep_complete();
    n_columns_ = std::min(n_columns_, rows_.size() / kRowsAColumn);
    std::sort(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(n_columns_),
              [](const Column& a, const Column& b) { return a.feature < b.feature; });
    return n_columns_ > 0 && add_up() ? solved() : Plane{};
  }

 private:
  struct Column {
    FeatureIndex feature = -1;
    double low = 0.0, high = 0.0;
    std::vector<double> x;  // one a row
    bool has_missing = false;

    // Reads the values of some rows. False where they do not vary, or their range is no number.
    bool read(const ColumnView& values, std::span<const RowIndex> rows);
    bool find_range();
  };

  std::span<Column> columns() { return std::span(columns_).first(n_columns_); }
  std::span<const Column> columns() const { return std::span(columns_).first(n_columns_); }

  // The values of the first columns that vary.
  void read(std::span<const FeatureIndex> features, std::span<const RowIndex> rows) {
    rows_.assign(rows.begin(), rows.end());
    n_columns_ = 0;
    for (const FeatureIndex feature : features) {
      if (n_columns_ == kMostColumns) break;
      Column& column = columns_[n_columns_];
      column.feature = feature;
      if (column.read(table_.columns[static_cast<std::size_t>(feature)].source, rows)) {
        ++n_columns_;
      }
    }
  }

  // Drops the rows that lack a value, and then the columns that no longer vary.
  void keep_complete() {
    const auto lacks = [](const Column& column) { return column.has_missing; };
    if (std::none_of(columns().begin(), columns().end(), lacks)) return;
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool complete = std::all_of(columns().begin(), columns().end(),
                                        [&](const Column& c) { return c.x[i] == c.x[i]; });
      if (!complete) continue;
      for (Column& column : columns()) column.x[n_kept] = column.x[i];
      rows_[n_kept++] = rows_[i];
    }
    rows_.resize(n_kept);
    for (Column& column : columns()) column.x.resize(n_kept);
    const auto varying = std::stable_partition(columns().begin(), columns().end(),
                                               [](Column& c) { return c.find_range(); });
    n_columns_ = static_cast<std::size_t>(varying - columns().begin());
  }

  Plane solved() const {
    const std::size_t k = n_columns_;
    const double total = h_[0][0];
    if (!(total >= kVanishingTotal)) return {};
    Matrix a{};
    Vector b{}, mean{}, slope{};
    for (std::size_t i = 0; i < k; ++i) mean[i] = h_[i + 1][0] / total;
    for (std::size_t i = 0; i < k; ++i) {
      b[i] = mean[i] * g_[0] - g_[i + 1];
      for (std::size_t j = 0; j <= i; ++j) a[i][j] = h_[i + 1][j + 1] - mean[i] * h_[j + 1][0];
      a[i][i] += slope_l2_;
    }
    if (!solve(a, b, k, slope)) return {};
    return plane(-g_[0] / (total + l2_), mean, slope);
  }

  // Through `centre` at the means; none where a number leaves float64.
  Plane plane(double centre, const Vector& mean, const Vector& slope) const {
    Plane found{centre, {}};
    double bound = std::abs(centre);
    for (std::size_t i = 0; i < n_columns_; ++i) {
      const Column& column = columns_[i];
      found.intercept -= slope[i] * mean[i];
      const double coefficient = slope[i] / (column.high - column.low);
      bound += 2.0 * (std::abs(slope[i]) + std::abs(coefficient) * (column.high - column.low));
      found.terms.push_back({column.feature, coefficient, column.low, column.high});
    }
    return std::isfinite(bound) ? found : Plane{};
  }

  // Sums over the rows, of h z z' and g z, where z = (1, z_1, .., z_k) and all z are in [0, 1]. False where a
  // gradient or a hessian is no finite number.
  bool add_up() {
    const std::size_t n = rows_.size();
    of_rows(gradient_, g_rows_);
    of_rows(hessian_, h_rows_);
    const Magnitude of_g = magnitude_of(g_rows_), of_h = magnitude_of(h_rows_);
    if (!of_g.is_finite() || !of_h.is_finite()) return false;
    const SumScale g_scale(of_g), h_scale(of_h);
    for (double& g : g_rows_) g = g_scale.in_units(g);
    for (double& h : h_rows_) h = h_scale.in_units(h);
    for (Column& column : columns()) {
      const double low = column.low, range = column.high - low;
      for (double& x : column.x) x = (x - low) / range;
    }
    ones_.assign(n, 1.0);
    const auto z = [&](std::size_t i) -> std::span<const double> {
      return i == 0 ? ones_ : columns_[i - 1].x;
    };
    h_by_z_.resize(n);
    for (std::size_t i = 0; i <= n_columns_; ++i) {
      g_[i] = sum_products(g_rows_, z(i)).to_real(g_scale);
      for (std::size_t row = 0; row < n; ++row) h_by_z_[row] = h_rows_[row] * z(i)[row];
      for (std::size_t j = 0; j <= i; ++j) h_[i][j] = sum_products(h_by_z_, z(j)).to_real(h_scale);
    }
    return true;
  }

  // One a row of the leaf; no values: all are 1.
  void of_rows(std::span<const double> values, std::vector<double>& out) const {
    out.resize(rows_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = values.empty() ? 1.0 : values[rows_[i]];
  }

  const BinnedDataset& table_;
  const std::span<const double> gradient_, hessian_;
  const double l2_, slope_l2_;

  // Of the leaf at hand.
  std::vector<RowIndex> rows_;
  std::array<Column, kMostColumns> columns_;
  std::size_t n_columns_ = 0;
  std::vector<double> g_rows_, h_rows_, h_by_z_, ones_;
  Matrix h_{};
  Vector g_{};
};

bool LeafFit::Column::read(const ColumnView& values, std::span<const RowIndex> rows) {
  x.resize(rows.size());
  values.with_type([&]<class T>(T) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(values.as<T>(rows[i]));
  });
  return find_range();
}

bool LeafFit::Column::find_range() {
  double least = std::numeric_limits<double>::infinity(), largest = -least;
  bool lacks = false;
  for (const double value : x) {
    least = value < least ? value : least;
    largest = value > largest ? value : largest;
    lacks |= value != value;
  }
  low = least;
  high = largest;
  has_missing = lacks;
  return low < high && std::isfinite(high - low);
}

// Numeric columns on the way from a leaf to the root, each once.
std::vector<FeatureIndex> columns_above(const BinnedDataset& table, const TreeArrays& tree,
                                        std::span<const NodeIndex> parent, NodeIndex leaf) {
  std::vector<FeatureIndex> features;
  for (NodeIndex node = parent[static_cast<std::size_t>(leaf)]; node >= 0;
       node = parent[static_cast<std::size_t>(node)]) {
    const FeatureIndex feature = tree.feature[static_cast<std::size_t>(node)];
    const CodedColumn& column = table.columns[static_cast<std::size_t>(feature)];
    if (column.is_categorical) continue;
    require(column.source.data != nullptr,
            "linear leaves need the values of the columns: give a dense table");
    if (std::find(features.begin(), features.end(), feature) == features.end()) {
      features.push_back(feature);
    }
  }
  return features;
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
  const std::vector<NodeIndex> parent = parents_of(tree);
  std::vector<Plane> planes(leaves.leaves.size());
  const int n_threads = leaves.rows.size() >= kParallelWork ? std::max(1, context.n_threads()) : 1;
  std::vector<LeafFit> fits(static_cast<std::size_t>(n_threads),
                            LeafFit(table, gradient, hessian, l2, slope_l2));
  parallel_for(n_threads, planes.size(), [&](std::size_t task, int worker) {
    context.check();
    const LeafRows::Leaf& leaf = leaves.leaves[task];
    const auto rows = std::span(leaves.rows).subspan(leaf.begin, leaf.end - leaf.begin);
    planes[task] = fits[static_cast<std::size_t>(worker)].fit(
        columns_above(table, tree, parent, leaf.node), rows);
  });
  return in_order(tree, leaves, planes);
}

void scale(LinearLeaves& leaves, double factor) {
  for (double& x : leaves.intercept) x *= factor;
  for (double& x : leaves.coefficient) x *= factor;
}

}  // namespace arboleda
