// The cells of a criterion, over shards. Included only where trees of the criterion are grown. What does not loop
// over rows is cold: compiled for size, as every criterion compiles it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "grow/shared_criterion.h"
#include "split/category_search.h"
#include "split/node_view.h"
#include "split/scan.h"
#include "split/search_options.h"
#include "split/split.h"

namespace arboleda {

template <class Criterion>
class CriterionCells final : public SharedCriterion {
 public:
  [[gnu::cold]] CriterionCells(const BinnedDataset& table, const Criterion& criterion,
                               const SearchOptions& options)
      : table_(table),
        criterion_(criterion),
        options_(options),
        limits_(options.limits),
        sides_(criterion.make_sides()),
        categories_(criterion, limits_) {}
  CriterionCells(const CriterionCells&) = delete;  // its parts share its limits

  std::size_t n_words() const override { return criterion_.n_words(); }
  bool has_range() const override { return Criterion::kHasRange; }

  [[gnu::cold]] void clear(std::size_t n_cells) override {
    cells_.assign(n_cells * criterion_.width(), Slot{});
  }

  void load(std::span<const RowIndex> rows) override {
    rows_ = rows;
    criterion_.gather(rows, local_);
  }

  void add(std::span<const Code> codes, std::size_t first) override {
    const std::size_t width = criterion_.width();
    Slot* const cells = &cells_[first * width];
    for (std::size_t i = 0; i < codes.size(); ++i) {
      criterion_.add(local_, i, cells + codes[i] * width);
    }
  }

  void add_all(std::size_t cell) override {
    const std::size_t width = criterion_.width();
    total_.resize(width);
    criterion_.sum(local_, total_.data());
    for (std::size_t s = 0; s < width; ++s) {
      cells_[cell * width + s] = cells_[cell * width + s] + total_[s];
    }
  }

  [[gnu::cold]] void write(std::uint64_t* words) const override {
    const std::size_t width = criterion_.width();
    for (std::size_t at = 0; at < cells_.size(); at += width, words += n_words()) {
      criterion_.write_cell(&cells_[at], words);
    }
  }

  void see_range([[maybe_unused]] TargetRange& range) const override {
    if constexpr (Criterion::kHasRange) criterion_.see_range(rows_, local_, range);
  }

  Int128 spread([[maybe_unused]] const SharedNode& node) const override {
    if constexpr (Criterion::kHasRange) {
      return criterion_.spread(local_, total_of(node).data(), node.range);
    }
    return 0;
  }

  [[gnu::cold]] void summarize(SharedNode& node) const override {
    const std::vector<Slot> total = total_of(node);
    node.n_rows = node.total.back();
    node.impurity = criterion_.shared_impurity(node.spread, total.data(), node.range);
    node.weight = criterion_.weight(total.data());
    node.is_pure = criterion_.is_pure(total.data(), node.range);
    node.value.resize(criterion_.n_outputs());
    criterion_.shared_value(total.data(), node.range, node.value.data());
  }

  double ordered_value(const SharedNode& node) const override {
    return node.value[Criterion::kOrderedOutput];
  }

  [[gnu::cold]] void within(const Bounds& bounds, std::span<double> value) const override {
    const double ordered = value[Criterion::kOrderedOutput];
    if (!bounds.hold(ordered)) criterion_.set_ordered(bounds.clamped(ordered), value.data());
  }

  [[gnu::cold]] void begin(const SharedNode& node, const Bounds& bounds) override {
    total_ = total_of(node);
    n_rows_ = node.n_rows;
    if (limits_.is_monotonic) {
      limits_.bounds = {criterion_.to_units(bounds.lower), criterion_.to_units(bounds.upper)};
    }
  }

  [[gnu::cold]] bool search(FeatureIndex feature, const std::uint64_t* words,
                            Split& best) override {
    const auto j = static_cast<std::size_t>(feature);
    const CodedColumn& column = table_.columns[j];
    const std::size_t width = criterion_.width();
    std::size_t n_present = 0;
    clear(column.n_codes());
    for (std::size_t at = 0; at < cells_.size(); at += width, words += n_words()) {
      criterion_.read_cell(words, &cells_[at]);
      n_present += criterion_.n_rows(&cells_[at]) > 0;
    }
    if (n_present < 2) return false;
    if (limits_.is_monotonic) limits_.direction = options_.monotonic[j];
    if (column.is_categorical) {
      return categories_.search_cells({{}, local_, total_.data()}, n_rows_, feature, cells_,
                                      column.get_missing_code(), best);
    }
    scan_histogram(criterion_, cells_.data(), column.n_values, column.has_missing, total_.data(),
                   n_rows_, limits_, feature, sides_, best);
    return true;
  }

 private:
  using Slot = typename Criterion::Slot;

  [[gnu::cold]] std::vector<Slot> total_of(const SharedNode& node) const {
    std::vector<Slot> total(criterion_.width());
    criterion_.read_cell(node.total.data(), total.data());
    return total;
  }

  const BinnedDataset& table_;
  const Criterion& criterion_;
  const SearchOptions options_;
  SplitLimits limits_;  // of the node and the feature
  typename Criterion::Sides sides_;
  CategorySearch<Criterion> categories_;
  std::vector<Slot> cells_;
  std::span<const RowIndex> rows_;  // that were loaded
  typename Criterion::Local local_;
  std::vector<Slot> total_;  // of the node that is searched
  std::uint64_t n_rows_ = 0;
};

}  // namespace arboleda
