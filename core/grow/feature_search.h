// Finds the best split of one node on one feature. Numeric features: by histogram while the node is
// large, by sorting its rows once it is small beside the feature's codes.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/types.h"
#include "data/coded_table.h"
#include "data/gather_codes.h"
#include "grow/category_search.h"
#include "grow/key_sort.h"
#include "grow/node_view.h"
#include "grow/random_search.h"
#include "grow/scan.h"
#include "grow/split.h"

namespace arboleda {

struct SearchOptions {
  SplitLimits limits;
  bool at_random = false;  // one split a feature, drawn at random
  std::uint64_t seed = 0;
  std::uint32_t tree = 0;
};

// Scratch of one thread.
template <class Criterion>
class FeatureSearch {
 public:
  FeatureSearch(const CodedTable& table, const Criterion& criterion, const SearchOptions& options)
      : table_(table),
        criterion_(criterion),
        options_(options),
        sides_(criterion.make_sides()),
        categories_(criterion, options.limits),
        random_(criterion, options.limits, options.seed, options.tree) {}

  // Improves `best`. False when the feature is constant in the node, missing values included: then
  // it is constant in the node's whole subtree.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, Split& best) {
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
    if (column.n_codes() < 2) return false;
    if (options_.at_random) {
      gather_codes(column, node.rows, codes_);
      return random_.search(node, feature, column, codes_, best);
    }
    if (column.is_categorical) {
      gather_codes(column, node.rows, codes_);
      return categories_.search(node, feature, codes_, column.n_codes(), column.missing_code(),
                                best);
    }
    return std::visit(
        [&](const auto& codes) {
          if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>) {
            return by_listed(node, feature, column, codes, best);
          } else {
            return by_all(node, feature, column, codes, best);
          }
        },
        column.codes);
  }

 private:
  using Slot = typename Criterion::Slot;

  template <class Codes>
  bool by_all(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
              const Codes& codes, Split& best) {
    if constexpr (Criterion::kHasCells) {
      if (column.n_codes() * criterion_.width() <= kSlotsARow * node.rows.size()) {
        return by_histogram(node, feature, column, codes, best);
      }
    }
    return by_sort(node, feature, column, [&](std::size_t i) { return codes[node.rows[i]]; }, best);
  }

  template <class Codes>
  bool by_histogram(const NodeView<Criterion>& node, FeatureIndex feature,
                    const CodedColumn& column, const Codes& codes, Split& best) {
    const std::size_t width = criterion_.width();
    histogram_.assign(column.n_codes() * width, Slot{});
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      criterion_.add(node.local, i, &histogram_[codes[node.rows[i]] * width]);
    }
    if (criterion_.n_rows(&histogram_[codes[node.rows[0]] * width]) == node.rows.size())
      return false;
    scan_histogram(criterion_, histogram_.data(), column.n_values, column.has_missing, node.total,
                   node.rows.size(), options_.limits, feature, sides_, best);
    return true;
  }

  template <class CodeAt>
  bool by_sort(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
               const CodeAt& code_at, Split& best) {
    keys_.resize(node.rows.size());
    const Code first = code_at(0);
    Code differ = 0;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      const Code code = code_at(i);
      differ |= code ^ first;
      keys_[i] = make_key(code, i);
    }
    if (differ == 0) return false;
    sort_keys(keys_, spare_, column.n_codes());
    scan_sorted(criterion_, node.local, keys_, column.n_values, node.total, options_.limits,
                feature, sides_, best);
    return true;
  }

  // Looks at the listed rows only; the others are the rest of the node.
  bool by_listed(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                 const SparseCodes& codes, Split& best) {
    if constexpr (!Criterion::kHasCells) {
      gather_codes(column, node.rows, codes_);
      return by_sort(node, feature, column, [&](std::size_t i) { return codes_[i]; }, best);
    } else {
      keys_.clear();
      for_each_listed(codes, node.rows,
                      [&](std::size_t i, Code code) { keys_.push_back(make_key(code, i)); });
      if (keys_.empty()) return false;
      sort_keys(keys_, spare_, column.n_codes());
      if (keys_.size() == node.rows.size() && code_of(keys_.front()) == code_of(keys_.back())) {
        return false;
      }
      const std::size_t width = criterion_.width();
      histogram_.assign(2 * width, Slot{});
      Slot* listed = &histogram_[0];
      Slot* others = &histogram_[width];
      for (const SortKey key : keys_) criterion_.add(node.local, place_of(key), listed);
      for (std::size_t s = 0; s < width; ++s) others[s] = node.total[s] - listed[s];
      scan_sparse(criterion_, node.local, keys_, codes.default_code, others, column.n_values,
                  node.total, node.rows.size(), options_.limits, feature, sides_, best);
      return true;
    }
  }

  const CodedTable& table_;
  const Criterion& criterion_;
  const SearchOptions options_;
  typename Criterion::Sides sides_;
  std::vector<Slot> histogram_;
  std::vector<SortKey> keys_, spare_;
  std::vector<Code> codes_;
  CategorySearch<Criterion> categories_;
  RandomSearch<Criterion> random_;
};

}  // namespace arboleda
