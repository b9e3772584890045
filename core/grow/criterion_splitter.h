// The splitter of a criterion. Included only where trees of the criterion are grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/binned_dataset.h"
#include "grow/splitter.h"
#include "layout/row_layouts.h"
#include "split/feature_search.h"
#include "split/node_view.h"
#include "split/search_options.h"
#include "split/split.h"

namespace arboleda {

template <class Criterion>
class CriterionSplitter final : public Splitter {
 public:
  CriterionSplitter(const BinnedDataset& table, const RowLayouts& layouts,
                    const Criterion& criterion, const SearchOptions& options)
      : criterion_(criterion),
        is_monotonic_(options.limits.is_monotonic),
        search_(table, layouts, criterion, options),
        total_(criterion.width()),
        part_(criterion.width()) {}

  void measure(std::span<const RowIndex> rows) override {
    rows_ = rows;
    criterion_.gather(rows, local_);
    criterion_.sum(local_, total_.data());
  }

  NodeSummary summarize(const Bounds& bounds, double* value) const override {
    const Slot* total = total_.data();
    criterion_.value(rows_, local_, total, value);
    if constexpr (kCanBeOrdered) {
      if (is_monotonic_) {
        const double ordered = value[Criterion::kOrderedOutput];
        if (!bounds.hold(ordered)) criterion_.set_ordered(bounds.clamped(ordered), value);
      }
    }
    return {criterion_.impurity(local_, total), criterion_.weight(total)};
  }

  bool is_pure() const override { return criterion_.is_pure(local_, total_.data()); }

  NodeSummary measure_part(std::span<const RowIndex> rows) override {
    sum_part(rows);
    return {criterion_.impurity(part_local_, part_.data()), criterion_.weight(part_.data())};
  }

  double ordered_value([[maybe_unused]] std::span<const RowIndex> rows) override {
    if constexpr (kCanBeOrdered) {
      sum_part(rows);
      std::vector<double> value(criterion_.n_outputs());
      criterion_.value(rows, part_local_, part_.data(), value.data());
      return value[Criterion::kOrderedOutput];
    }
    return 0.0;
  }

  void begin_search(std::uint64_t key, const Bounds& bounds) override {
    node_.emplace(NodeView<Criterion>{rows_, local_, total_.data(), key, in_units(bounds)});
  }
  void join_search(const Splitter& other) override {
    if (&other != this) node_.emplace(*static_cast<const CriterionSplitter&>(other).node_);
  }

  void begin(std::span<const FeatureIndex> features) override { search_.begin(*node_, features); }
  bool has_sums(FeatureIndex feature) const override { return search_.has_sums(feature); }
  bool search(FeatureIndex feature, FeatureIndex next, Split& best) override {
    search_.look_ahead(*node_, next);
    return search_.search(*node_, feature, best);
  }
  bool search_side_by_side(std::span<const FeatureIndex> features, Split& best,
                           std::vector<std::uint8_t>& varies) override {
    return search_.search_side_by_side(*node_, features, best, varies);
  }
  bool search_binary_features(std::span<const FeatureIndex> features, Split& best) override {
    return search_.search_binary_features(*node_, features, best);
  }

  BinaryFeatureSearch& binary_features() override { return search_.binary_features(); }
  NumericFeatureSearch& numeric_features() override { return search_.numeric_features(); }

 private:
  using Slot = typename Criterion::Slot;
  using Local = typename Criterion::Local;
  static constexpr bool kCanBeOrdered = requires { Criterion::kOrderedOutput; };

  void sum_part(std::span<const RowIndex> rows) {
    criterion_.gather(rows, part_local_);
    criterion_.sum(part_local_, part_.data());
  }

  Bounds in_units([[maybe_unused]] const Bounds& bounds) const {
    if constexpr (kCanBeOrdered) {
      if (is_monotonic_) {
        return {criterion_.to_units(bounds.lower), criterion_.to_units(bounds.upper)};
      }
    }
    return {};
  }

  const Criterion& criterion_;
  const bool is_monotonic_;
  FeatureSearch<Criterion> search_;
  std::span<const RowIndex> rows_;
  Local local_, part_local_;
  std::vector<Slot> total_, part_;
  std::optional<NodeView<Criterion>> node_;  // that is searched
};

}  // namespace arboleda
