// What the shards of a table add up while a tree grows.
#include <algorithm>
#include <numeric>

#include "base/shards.h"
#include "grow/histogram_tree_builder.h"

namespace arboleda {

// The numbers of rows on the left, and the categories that splits list: those of all shards.
void BoostedTreeBuilder::share_parts(std::span<OpenNode* const> parents,
                                     std::span<const std::size_t> n_own_left,
                                     std::span<std::uint64_t> n_left) {
  std::vector<std::uint64_t> counts(n_left.begin(), n_left.end());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const CodedColumn& column = split_column(*parents[i]);
    if (!column.is_categorical) continue;
    const std::size_t first = counts.size();
    counts.resize(first + column.n_values);
    for (const CategoryIndex c : own_categories(*parents[i], n_own_left[i])) counts[first + c] = 1;
  }
  add_all(context_.shards(), std::span(counts));
  std::copy_n(counts.begin(), n_left.size(), n_left.begin());
  std::size_t first = n_left.size();
  for (OpenNode* parent : parents) {
    const CodedColumn& column = split_column(*parent);
    if (!column.is_categorical) continue;
    for (std::size_t c = 0; c < column.n_values; ++c) {
      if (counts[first + c] > 0) parent->categories.push_back(static_cast<CategoryIndex>(c));
    }
    first += column.n_values;
  }
}

// The cells of all shards, of the columns that may be searched, with one message.
void BoostedTreeBuilder::add_histograms(std::span<OpenNode* const> nodes) const {
  if (context_.shards() == nullptr || nodes.empty()) return;
  ColumnChoice::Columns columns = columns_.of_tree();
  if (!options_.forced_splits.empty()) {
    columns.resize(codes_->columns().size());
    std::iota(columns.begin(), columns.end(), 0U);
  }
  std::vector<std::uint64_t> numbers;
  for (const OpenNode* node : nodes) {
    for (const auto column : columns) {
      const auto [from, to] = cells_of(column);
      node->histogram->append(from, to, numbers);
    }
  }
  context_.shards()->add(numbers);
  const std::uint64_t* next = numbers.data();
  for (const OpenNode* node : nodes) {
    for (const auto column : columns) {
      const auto [from, to] = cells_of(column);
      next = node->histogram->take(from, to, next);
    }
  }
}

// Those of all shards; more than 2^32 - 1 rows of a code are enough whatever their number.
void HistogramTreeBuilder::add_counts(std::span<Counts> counts) const {
  if (context_.shards() == nullptr || counts.empty()) return;
  std::vector<std::uint64_t> sums;
  for (const Counts& own : counts) sums.insert(sums.end(), own.begin(), own.end());
  context_.shards()->add(sums);
  auto next = sums.begin();
  for (Counts& own : counts) {
    for (std::uint32_t& n : own) {
      n = static_cast<std::uint32_t>(std::min<std::uint64_t>(*next++, UINT32_MAX));
    }
  }
}

}  // namespace arboleda
