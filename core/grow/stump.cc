#include "grow/stump.h"

#include <algorithm>
#include <array>

#include "criterion/class_weights.h"
#include "criterion/gini.h"
#include "data/gather_codes.h"
#include "grow/row_partition.h"
#include "simd/kernels.h"
#include "split/stump_search.h"

namespace arboleda {

namespace {

using Criterion = ClassCriterion<std::uint64_t, Gini>;

// More rows could not be marked (stump_columns.h), and rough gains would be too rough.
constexpr std::size_t kMostRows = std::size_t{1} << 28;

// A node of the stump: its statistic, and its split; a leaf has none.
struct StumpNode {
  ClassPair weights;
  std::size_t n_rows;
  FeatureIndex feature = -1;
  double threshold = 0.0;
  bool missing_left = false;
};

// Appends a node as the Grower records it.
void append(TreeArrays& tree, const Criterion& criterion, const StumpNode& node,
            NodeIndex right_of) {
  const std::array<std::uint64_t, 3> total{node.weights.first, node.weights.second, node.n_rows};
  std::array<double, 2> shares;
  criterion.value({}, {}, total.data(), shares.data());
  append_node(tree,
              {node.feature < 0, node.feature, node.threshold, node.missing_left,
               criterion.impurity({}, total.data()), static_cast<std::int64_t>(node.n_rows),
               criterion.weight(total.data()) * criterion.weight_unit()},
              shares, right_of);
}

// What a split does to those of some rows that count.
template <class Codes, class Counts>
Partition count_codes(const CodedColumn& column, const Split& split, const Codes& codes,
                      const Counts& counts) {
  const Code missing = column.get_missing_code();
  std::uint32_t n_left = 0, n_missing = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const Code code = codes[i];
    const bool is_missing = code == missing;
    const bool left = is_missing ? split.missing_left : code <= split.code;
    n_left += static_cast<std::uint32_t>(left && counts(i));
    n_missing += static_cast<std::uint32_t>(is_missing && counts(i));
  }
  Partition parted;
  parted.n_left = n_left;
  parted.n_missing = n_missing;
  return parted;
}

}  // namespace

bool StumpGrower::can_grow(const BinnedDataset& table, std::size_t n_classes,
                           const GrowthOptions& options) {
  const bool no_limits = options.max_leaf_nodes >= 2 && options.min_samples_split <= 2 &&
                         options.min_samples_leaf <= 1 && options.min_weight_fraction_leaf <= 0.0 &&
                         options.min_impurity_decrease <= 0.0 && options.monotonic.empty();
  const bool all_columns = options.features.empty() && !options.random_splits &&
                           options.looks_at_all(table.n_features());
  return options.max_depth == 1 && no_limits && all_columns && n_classes == 2 &&
         table.n_rows <= kMostRows &&
         std::none_of(table.columns.begin(), table.columns.end(),
                      [](const CodedColumn& column) { return column.is_categorical; });
}

StumpGrower::StumpGrower(const BinnedDataset& table, std::span<const std::uint32_t> labels,
                         std::span<const RowIndex> rows)
    : table_(table),
      labels_(labels),
      rows_(rows),
      search_(std::make_unique<StumpSearch>(table, labels, rows)) {}

StumpGrower::~StumpGrower() = default;

TreeArrays StumpGrower::grow(const FixedWeights& weights, const Context& context) {
  context.check();
  const Criterion criterion(labels_, 2, weights);
  std::span<const std::uint64_t> weight = weights.value;
  if (weights.is_unit()) {
    ones_.assign(table_.n_rows, 1);
    for (std::size_t i = 0; i < weights.dropped.size(); ++i) ones_[i] = !weights.dropped[i];
    weight = ones_;
  }
  const auto [whole, second, n_rows] =
      kernels().stumps.totals(weight.data(), labels_.data(), weight.size());
  const ClassPair total{whole - second, second};
  TreeArrays tree;
  tree.n_features = table_.n_features();
  tree.n_outputs = 2;
  BestStump best;
  if (total.first > 0 && total.second > 0) best = search_->find(weight, total, context);
  if (!best.split().found()) {
    append(tree, criterion, {total, n_rows}, -1);
    return tree;
  }
  const Partition parted = count(best.split(), weight, n_rows == table_.n_rows);
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(best.split().feature)];
  // A side for missing values that no row has: the larger one, as the Grower's.
  const bool missing_left =
      parted.n_missing > 0 ? best.split().missing_left : parted.n_left > n_rows - parted.n_left;
  append(tree, criterion,
         {total, n_rows, best.split().feature, threshold_between(column, best.split(), parted),
          missing_left},
         -1);
  append(tree, criterion, {best.left(), parted.n_left}, -1);
  append(tree, criterion, {total - best.left(), n_rows - parted.n_left}, 0);
  return tree;
}

Partition StumpGrower::count(const Split& split, std::span<const std::uint64_t> weight,
                             bool all_count) {
  const CodedColumn& column = table_.columns[static_cast<std::size_t>(split.feature)];
  Partition parted = std::visit(
      [&](const auto& codes) {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
          gather_codes(column, rows_, codes_);
          const auto counts = [&](std::size_t i) { return weight[rows_[i]] != 0; };
          return count_codes(column, split, codes_, counts);
        } else if (all_count) {
          return count_codes(column, split, codes, [](std::size_t) { return true; });
        } else {
          const auto counts = [&](std::size_t row) { return weight[row] != 0; };
          return count_codes(column, split, codes, counts);
        }
      },
      column.codes);
  if (!column.values.empty()) return parted;
  // The threshold is read off the values of rows.
  gather_codes(column, rows_, codes_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (codes_[i] == split.code) parted.low_row = rows_[i];
    if (codes_[i] == split.next_code) parted.high_row = rows_[i];
  }
  return parted;
}

}  // namespace arboleda
