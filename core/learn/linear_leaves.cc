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

// Fits one leaf after the other; one a worker.
class LeafFit {
 public:
  LeafFit(const BinnedDataset& table, std::span<const double> gradient,
          std::span<const double> hessian, double l2, double slope_l2)
      : table_(table), gradient_(gradient), hessian_(hessian), l2_(l2), slope_l2_(slope_l2) {}

  // features: of the columns that may be used, nearest to the leaf first.
  Plane fit(std::vector<FeatureIndex> features, std::span<const RowIndex> rows) {
    read(features, rows);
    keep_complete();
    drop_constant();
    const std::size_t most = rows_.size() / kRowsAColumn;
    if (columns_.size() > most) columns_.resize(most);
    std::sort(columns_.begin(), columns_.end(),
              [](const Column& a, const Column& b) { return a.feature < b.feature; });
    return columns_.empty() ? Plane{} : solved();
  }

 private:
  struct Column {
    FeatureIndex feature;
    double low, high;
    std::vector<double> x;  // one a row
  };

  double hessian(RowIndex row) const { return hessian_.empty() ? 1.0 : hessian_[row]; }

  // The values of the first columns that vary.
  void read(const std::vector<FeatureIndex>& features, std::span<const RowIndex> rows) {
    rows_.assign(rows.begin(), rows.end());
    columns_.clear();
    for (const FeatureIndex feature : features) {
      if (columns_.size() == kMostColumns) break;
      const ColumnView& values = table_.columns[static_cast<std::size_t>(feature)].source;
      Column column{feature, 0.0, 0.0, {}};
      column.x.reserve(rows.size());
      for (const RowIndex row : rows) column.x.push_back(values[row]);
      if (find_range(column)) columns_.push_back(std::move(column));
    }
  }

  // Whether present values vary, and their range is a number.
  static bool find_range(Column& column) {
    column.low = std::numeric_limits<double>::infinity();
    column.high = -column.low;
    for (const double x : column.x) {
      column.low = x < column.low ? x : column.low;
      column.high = x > column.high ? x : column.high;
    }
    return column.low < column.high && std::isfinite(column.high - column.low);
  }

  void keep_complete() {
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool complete = std::all_of(columns_.begin(), columns_.end(),
                                        [&](const Column& c) { return c.x[i] == c.x[i]; });
      if (!complete) continue;
      for (Column& column : columns_) column.x[n_kept] = column.x[i];
      rows_[n_kept++] = rows_[i];
    }
    rows_.resize(n_kept);
    for (Column& column : columns_) column.x.resize(n_kept);
  }

  void drop_constant() {
    std::erase_if(columns_, [](Column& column) { return !find_range(column); });
  }

  Plane solved() {
    add_up();
    const std::size_t k = columns_.size();
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
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      found.intercept -= slope[i] * mean[i];
      const double coefficient = slope[i] / (column.high - column.low);
      bound += 2.0 * (std::abs(slope[i]) + std::abs(coefficient) * (column.high - column.low));
      found.terms.push_back({column.feature, coefficient, column.low, column.high});
    }
    return std::isfinite(bound) ? found : Plane{};
  }

  // Sums over the rows, of h z z' and g z, where z = (1, z_1, .., z_k) and all z are in [0, 1].
  void add_up() {
    Magnitude of_g, of_h;
    for (const RowIndex row : rows_) {
      of_g.see(gradient_[row]);
      of_h.see(hessian(row));
    }
    const SumScale g_scale(of_g), h_scale(of_h);
    const std::size_t k = columns_.size() + 1;
    std::array<std::array<ExactSum, kRoom>, kRoom> h{};
    std::array<ExactSum, kRoom> g{};
    Vector z{};
    z[0] = 1.0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t j = 1; j < k; ++j) {
        const Column& column = columns_[j - 1];
        z[j] = (column.x[r] - column.low) / (column.high - column.low);
      }
      const double of_row = hessian(rows_[r]);
      for (std::size_t i = 0; i < k; ++i) {
        g[i].add(g_scale, gradient_[rows_[r]] * z[i]);
        for (std::size_t j = 0; j <= i; ++j) h[i][j].add(h_scale, of_row * z[i] * z[j]);
      }
    }
    for (std::size_t i = 0; i < k; ++i) {
      g_[i] = g[i].to_real(g_scale);
      for (std::size_t j = 0; j <= i; ++j) h_[i][j] = h[i][j].to_real(h_scale);
    }
  }

  const BinnedDataset& table_;
  const std::span<const double> gradient_, hessian_;
  const double l2_, slope_l2_;

  // Of the leaf at hand.
  std::vector<RowIndex> rows_;
  std::vector<Column> columns_;
  Matrix h_{};
  Vector g_{};
};

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
