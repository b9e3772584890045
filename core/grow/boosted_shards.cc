// What the shards of a table add up while a tree grows.
#include <algorithm>
#include <numeric>

#include "base/shards.h"
#include "grow/histogram_tree_builder.h"

namespace arboleda {

// What all shards have, with one message: numbers of rows on the left, the categories that splits list, and
// the cells of histograms.
void BoostedTreeBuilder::share_parts(std::span<OpenNode* const> parents,
                                     std::span<const std::size_t> n_own_left,
                                     std::span<OpenNode* const> filled,
                                     std::span<std::uint64_t> n_left) {
  std::vector<std::uint64_t> numbers(n_left.begin(), n_left.end());
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const CodedColumn& column = split_column(*parents[i]);
    if (!column.is_categorical) continue;
    const std::size_t first = numbers.size();
    numbers.resize(first + column.n_values);
    for (const CategoryIndex c : own_categories(*parents[i], n_own_left[i])) numbers[first + c] = 1;
  }
  append_cells(filled, numbers);
  context_.shards()->count_opened(parents.size(), filled.size(), 0);
  add_all(context_.shards(), std::span(numbers));
  std::copy_n(numbers.begin(), n_left.size(), n_left.begin());
  std::size_t first = n_left.size();
  for (OpenNode* parent : parents) {
    const CodedColumn& column = split_column(*parent);
    if (!column.is_categorical) continue;
    for (std::size_t c = 0; c < column.n_values; ++c) {
      if (numbers[first + c] > 0) parent->categories.push_back(static_cast<CategoryIndex>(c));
    }
    first += column.n_values;
  }
  take_cells(filled, numbers.data() + first);
}

// Those whose cells are needed: that may be searched, or have forced splits.
ColumnChoice::Columns BoostedTreeBuilder::shared_columns() const {
  if (options_.forced_splits.empty()) return columns_.of_tree();
  ColumnChoice::Columns columns(codes_->columns().size());
  std::iota(columns.begin(), columns.end(), 0U);
  return columns;
}

void BoostedTreeBuilder::append_cells(std::span<OpenNode* const> nodes,
                                      std::vector<std::uint64_t>& numbers) const {
  const ColumnChoice::Columns columns = shared_columns();
  for (const OpenNode* node : nodes) {
    for (const auto column : columns) {
      const auto [from, to] = cells_of(column);
      node->histogram->append(from, to, numbers);
    }
  }
}

void BoostedTreeBuilder::take_cells(std::span<OpenNode* const> nodes,
                                    const std::uint64_t* numbers) const {
  const ColumnChoice::Columns columns = shared_columns();
  for (const OpenNode* node : nodes) {
    for (const auto column : columns) {
      const auto [from, to] = cells_of(column);
      numbers = node->histogram->take(from, to, numbers);
    }
  }
}

void BoostedTreeBuilder::add_histogram(OpenNode& node) const {
  OpenNode* const only = &node;
  std::vector<std::uint64_t> numbers;
  append_cells(std::span(&only, 1), numbers);
  context_.shards()->add(numbers);
  take_cells(std::span(&only, 1), numbers.data());
}

// Those of all shards; more than 2^32 - 1 rows of a code are enough whatever their number.
void HistogramTreeBuilder::add_counts(std::span<Counts> counts) const {
  if (context_.shards() == nullptr || counts.empty()) return;
  std::vector<std::uint64_t> sums;
  for (const Counts& own : counts) sums.insert(sums.end(), own.begin(), own.end());
  context_.shards()->count_opened(0, 0, sums.size());
  context_.shards()->add(sums);
  auto next = sums.begin();
  for (Counts& own : counts) {
    for (std::uint32_t& n : own) {
      n = static_cast<std::uint32_t>(std::min<std::uint64_t>(*next++, UINT32_MAX));
    }
  }
}

}  // namespace arboleda
