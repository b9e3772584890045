// Finds the best split of one node on one feature: by histogram while the node is large, by sorting
// its rows once it is small beside the feature's codes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "data/coded_table.h"
#include "grow/key_sort.h"
#include "grow/scan.h"
#include "grow/split.h"

namespace arboleda {

// A histogram is built, cleared and scanned slot by slot; it pays while the node has at least one
// row for every so many slots. Between 2 and 8 a full tree on Adult or MNIST takes the same time.
inline constexpr std::size_t kSlotsARow = 4;

// The node that is searched.
template <class Criterion>
struct NodeView {
  std::span<const RowIndex> rows;
  const typename Criterion::Local& local;
  const typename Criterion::Slot* total;
};

// Scratch of one thread.
template <class Criterion>
class FeatureSearch {
 public:
  FeatureSearch(const CodedTable& table, const Criterion& criterion, const SplitLimits& limits)
      : table_(table), criterion_(criterion), limits_(limits), sides_(criterion.make_sides()) {}

  // Improves `best`. False when the feature is constant in the node, missing values included: then
  // it is constant in the node's whole subtree.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, Split& best) {
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
    if (column.n_codes() < 2) return false;
    return std::visit(
        [&](const auto& codes) {
          if constexpr (Criterion::kHasCells) {
            const std::size_t n_slots = column.n_codes() * criterion_.width();
            if (n_slots <= kSlotsARow * node.rows.size()) {
              return by_histogram(node, feature, column, codes, best);
            }
          }
          return by_sort(node, feature, column, codes, best);
        },
        column.codes);
  }

 private:
  template <class Codes>
  bool by_histogram(const NodeView<Criterion>& node, FeatureIndex feature,
                    const CodedColumn& column, const Codes& codes, Split& best) {
    const std::size_t width = criterion_.width();
    histogram_.assign(column.n_codes() * width, typename Criterion::Slot{});
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      criterion_.add(node.local, i, &histogram_[codes[node.rows[i]] * width]);
    }
    if (criterion_.n_rows(&histogram_[codes[node.rows[0]] * width]) == node.rows.size())
      return false;
    scan_histogram(criterion_, histogram_.data(), column.n_values(), column.has_missing, node.total,
                   node.rows.size(), limits_, feature, sides_, best);
    return true;
  }

  template <class Codes>
  bool by_sort(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
               const Codes& codes, Split& best) {
    keys_.resize(node.rows.size());
    const Code first = codes[node.rows[0]];
    Code differ = 0;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      const Code code = codes[node.rows[i]];
      differ |= code ^ first;
      keys_[i] = make_key(code, i);
    }
    if (differ == 0) return false;
    sort_keys(keys_, spare_, column.n_codes());
    scan_sorted(criterion_, node.local, keys_, column.n_values(), node.total, limits_, feature,
                sides_, best);
    return true;
  }

  const CodedTable& table_;
  const Criterion& criterion_;
  const SplitLimits& limits_;
  typename Criterion::Sides sides_;
  std::vector<typename Criterion::Slot> histogram_;
  std::vector<SortKey> keys_, spare_;
};

}  // namespace arboleda
