// Finds the best split of one node on one feature. Numeric features: by histogram while the node is
// large, by sorting its rows once it is small beside the feature's codes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/kernels.h"
#include "base/types.h"
#include "base/upper_half_sort.h"
#include "data/coded_table.h"
#include "data/gather_codes.h"
#include "grow/category_search.h"
#include "grow/node_view.h"
#include "grow/random_search.h"
#include "grow/scan.h"
#include "grow/split.h"

namespace arboleda {

// A larger histogram is made in parts of this size, but in no more than so many parts; it pays down to
// fewer rows, because sorting many is slow.
inline constexpr std::size_t kHistogramBytes = std::size_t{1} << 20;
inline constexpr std::size_t kParts = 8;
inline constexpr std::size_t kPartSlotsARow = 8;

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
      const std::size_t n_slots = column.n_codes() * criterion_.width();
      const bool whole = n_slots * sizeof(Slot) <= kHistogramBytes;
      if (whole && n_slots <= kSlotsARow * node.rows.size()) {
        return by_histogram(node, feature, column, codes, best);
      }
      if (!whole && n_slots <= kPartSlotsARow * node.rows.size()) {
        return by_parts(node, feature, column, codes, best);
      }
    }
    return by_sort(node, feature, column, best);
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

  // A histogram of a large node with many codes, made and scanned in parts: they stay in the cache,
  // and memory stays small.
  template <class Codes>
  bool by_parts(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                const Codes& codes, Split& best) {
    const std::size_t width = criterion_.width();
    const std::size_t n_cells =
        std::max(kHistogramBytes / (sizeof(Slot) * width), column.n_codes() / kParts + 1);
    // Adds the rows with codes from `begin` on; those of no part of it, to the cell after the last.
    const auto fill = [&](std::size_t begin) {
      histogram_.assign((n_cells + 1) * width, Slot{});
      for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::size_t cell = std::min<std::size_t>(codes[node.rows[i]] - begin, n_cells);
        criterion_.add(node.local, i, &histogram_[cell * width]);
      }
    };
    std::vector<Slot> missing(width);
    if (column.has_missing) {
      fill(column.n_values);
      std::copy_n(histogram_.begin(), width, missing.begin());
    }
    const std::size_t n_missing = criterion_.n_rows(missing.data());
    if (is_constant(node, codes)) return false;
    scan_feature(
        sides_, node.total, node.rows.size(), n_missing > 0, options_.limits, feature, best,
        [&] { sides_.move_cell(missing.data()); },
        [&](auto& scan) {
          for (std::size_t begin = 0; begin < column.n_values; begin += n_cells) {
            fill(begin);
            const std::size_t end = std::min(begin + n_cells, column.n_values);
            for (std::size_t code = begin; code < end; ++code) {
              const Slot* cell = &histogram_[(code - begin) * width];
              if (criterion_.n_rows(cell) == 0) continue;
              scan.before(static_cast<Code>(code));
              sides_.move_cell(cell);
            }
          }
        });
    return true;
  }

  template <class Codes>
  static bool is_constant(const NodeView<Criterion>& node, const Codes& codes) {
    return std::all_of(node.rows.begin(), node.rows.end(),
                       [&](RowIndex row) { return codes[row] == codes[node.rows[0]]; });
  }

  bool by_sort(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
               Split& best) {
    gather_codes(column, node.rows, codes_);
    keys_.resize(codes_.size());
    const Code differ = kernels_.make_keys(codes_.data(), codes_.size(), keys_.data());
    if (differ == 0) return false;
    sorter_.sort(keys_, differ);
    scan_sorted(criterion_, node.local, keys_, column.n_values, node.total, options_.limits,
                feature, sides_, best);
    return true;
  }

  // Looks at the listed rows only; the others are the rest of the node.
  bool by_listed(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                 const SparseCodes& codes, Split& best) {
    if constexpr (!Criterion::kHasCells) {
      return by_sort(node, feature, column, best);
    } else {
      keys_.clear();
      for_each_listed(codes, node.rows,
                      [&](std::size_t i, Code code) { keys_.push_back(make_key(code, i)); });
      if (keys_.empty()) return false;
      sorter_.sort(keys_, static_cast<Code>(column.n_codes() - 1));
      const Code lowest = code_of(keys_.front());
      const bool any_other = keys_.size() < node.rows.size() && lowest != codes.default_code;
      if (lowest == code_of(keys_.back()) && !any_other) return false;
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
  const Kernels& kernels_ = kernels();
  typename Criterion::Sides sides_;
  std::vector<Slot> histogram_;
  UpperHalfSort sorter_;
  std::vector<SortKey> keys_;
  std::vector<Code> codes_;
  CategorySearch<Criterion> categories_;
  RandomSearch<Criterion> random_;
};

}  // namespace arboleda
