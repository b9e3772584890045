#include "split/column_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simd/kernels.h"

namespace arboleda {

// A share of the columns, at least one, without replacement; fewer where fewer have a weight.
ColumnChoice::Columns ColumnChoice::draw(Columns columns, double share, RandomStream random) const {
  if (share >= 1.0 || columns.empty()) return columns;
  const auto n = std::max<std::size_t>(
      1, static_cast<std::size_t>(share * static_cast<double>(columns.size())));
  if (!options_.feature_weights.empty()) return draw_weighted(columns, n, random);
  for (std::size_t i = 0; i < n; ++i) {
    const auto rest = static_cast<std::uint32_t>(columns.size() - i);
    std::swap(columns[i], columns[i + random.below(rest)]);
  }
  columns.resize(n);
  std::sort(columns.begin(), columns.end());
  return columns;
}

// One after the other, each with probability in proportion to its weight among those that are left: the
// columns with the smallest of exponential times of these rates. P. S. Efraimidis, P. G. Spirakis (2006),
// "Weighted random sampling with a reservoir", Information Processing Letters 97.
ColumnChoice::Columns ColumnChoice::draw_weighted(const Columns& columns, std::size_t wanted,
                                                  RandomStream random) const {
  std::vector<double> uniforms(columns.size()), logs(columns.size());
  for (double& u : uniforms) u = random.uniform() + 0x1p-54;
  kernels().math.log(uniforms.data(), uniforms.size(), logs.data());
  std::vector<std::pair<double, std::uint32_t>> times;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto feature = static_cast<std::size_t>(codes_.columns()[columns[i]].feature);
    const double weight = options_.feature_weights[feature];
    if (weight > 0.0) times.emplace_back(-logs[i] / weight, columns[i]);
  }
  std::sort(times.begin(), times.end());
  if (times.size() > wanted) times.resize(wanted);
  Columns drawn;
  for (const auto& [time, column] : times) drawn.push_back(column);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

ColumnChoice::ColumnChoice(const RowCodes& codes, const HistogramOptions& options,
                           std::uint64_t seed)
    : codes_(codes), options_(options), seed_(seed), sets_(options.interactions) {
  for (auto& set : sets_) std::sort(set.begin(), set.end());
  auto all = std::make_shared<Groups>(sets_.size());
  std::iota(all->begin(), all->end(), 0U);
  all_groups_ = std::move(all);
}

void ColumnChoice::begin_tree(std::uint32_t tree) {
  tree_ = tree;
  of_tree_.resize(codes_.columns().size());
  std::iota(of_tree_.begin(), of_tree_.end(), 0U);
  of_tree_ = draw(std::move(of_tree_), options_.column_share_tree,
                  RandomStream(seed_, Purpose::tree_columns, tree_, 0));
}

std::shared_ptr<const ColumnChoice::Groups> ColumnChoice::after(
    const std::shared_ptr<const Groups>& groups, FeatureIndex feature) const {
  if (sets_.empty()) return groups;
  auto left = std::make_shared<Groups>();
  for (const auto group : *groups) {
    const auto& set = sets_[group];
    if (std::binary_search(set.begin(), set.end(), feature)) left->push_back(group);
  }
  return left;
}

ColumnChoice::Columns ColumnChoice::at_node(const Groups& groups, std::int32_t depth,
                                            std::uint64_t key) const {
  Columns columns =
      draw(of_tree_, options_.column_share_level,
           RandomStream(seed_, Purpose::level_columns, tree_, static_cast<std::uint64_t>(depth)));
  columns = allowed_by(groups, columns);
  return draw(std::move(columns), options_.column_share_node,
              RandomStream(seed_, Purpose::feature_subset, tree_, key));
}

ColumnChoice::Columns ColumnChoice::allowed_by(const Groups& groups, const Columns& columns) const {
  if (sets_.empty()) return columns;
  Columns allowed;
  for (const auto column : columns) {
    const FeatureIndex feature = codes_.columns()[column].feature;
    const bool any = std::any_of(groups.begin(), groups.end(), [&](auto group) {
      return std::binary_search(sets_[group].begin(), sets_[group].end(), feature);
    });
    if (any) allowed.push_back(column);
  }
  return allowed;
}

}  // namespace arboleda
