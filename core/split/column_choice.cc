#include "split/column_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace arboleda {

namespace {

// A share of the columns, at least one, without replacement.
ColumnChoice::Columns draw(ColumnChoice::Columns columns, double share, RandomStream random) {
  if (share >= 1.0 || columns.empty()) return columns;
  const auto n = std::max<std::size_t>(
      1, static_cast<std::size_t>(share * static_cast<double>(columns.size())));
  for (std::size_t i = 0; i < n; ++i) {
    const auto rest = static_cast<std::uint32_t>(columns.size() - i);
    std::swap(columns[i], columns[i + random.below(rest)]);
  }
  columns.resize(n);
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

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
