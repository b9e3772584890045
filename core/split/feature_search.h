// Finds the best split of one node on one feature. Binary features: from sums over all of them
// at once. Other numeric features: by histogram while the node is large, by sorting its rows once it
// is small beside the feature's codes.
//
// Rows of the smallest code are not read: their statistic is the node's less that of the others. Most
// tables are full of zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/gather_codes.h"
#include "data/pair_sorter.h"
#include "layout/row_layouts.h"
#include "simd/kernels.h"
#include "split/binary_feature_search.h"
#include "split/category_search.h"
#include "split/code_prefetch.h"
#include "split/few_rows_search.h"
#include "split/node_view.h"
#include "split/numeric_feature_search.h"
#include "split/random_search.h"
#include "split/run_scores.h"
#include "split/scan.h"
#include "split/split.h"

namespace arboleda {

// Rows of a node that are listed before anything else is done; of more, the list would be large.
inline constexpr std::size_t kListedRows = std::size_t{1} << 16;

// A larger histogram is made in parts of this size, but in no more than so many parts; it pays down to
// fewer rows, because sorting many is slow.
inline constexpr std::size_t kHistogramBytes = std::size_t{1} << 20;
inline constexpr std::size_t kParts = 8;
inline constexpr std::size_t kPartSlotsARow = 8;

// Cells beyond the caches take longer than a sort.
inline constexpr std::size_t kCellBytes = std::size_t{1} << 17;

// Rows that are looked at to guess whether most have the code 0.
inline constexpr std::size_t kGuessed = 16;

struct SearchOptions {
  SplitLimits limits;
  bool at_random = false;  // one split a feature, drawn at random
  std::uint64_t seed = 0;
  std::uint32_t tree = 0;
  std::span<const std::int8_t> monotonic = {};  // of each column, where the limits are monotonic
};

// Scratch of one thread.
template <class Criterion>
class FeatureSearch {
 public:
  FeatureSearch(const BinnedDataset& table, const RowLayouts& layouts, const Criterion& criterion,
                const SearchOptions& options)
      : table_(table),
        code_rows_(layouts.codes),
        ahead_(table),
        criterion_(criterion),
        options_(options),
        is_unlimited_(options.limits.min_rows <= 1 && options.limits.min_weight <= 0.0 &&
                      !options.limits.is_monotonic),
        sides_(criterion.make_sides()),
        limits_(options.limits),
        binary_features_(layouts.binary_features, criterion, options.limits.min_rows > 1,
                         is_unlimited_),
        binary_cells_(layouts.lists, criterion),
        few_(table, layouts.codes, criterion, is_unlimited_ && !options.at_random),
        categories_(criterion, limits_),
        random_(criterion, limits_, options.seed, options.tree),
        numeric_features_(table, layouts.numeric_features, criterion, random_,
                          is_unlimited_ && options.at_random) {}
  FeatureSearch(const FeatureSearch&) = delete;  // its parts share its limits

  BinaryFeatureSearch<Criterion>& binary_features() { return binary_features_; }
  NumericFeatureSearch<Criterion>& numeric_features() { return numeric_features_; }

  // Call before features of a node are searched. list: these features.
  void begin(const NodeView<Criterion>& node, std::span<const FeatureIndex> features) {
    binary_features_.sum(node, features);
    binary_cells_.sum(node);
  }

  // Whether begin() has computed all sums that the feature needs.
  bool has_sums(FeatureIndex feature) const {
    return binary_features_.sums(feature) || binary_cells_.has(feature);
  }

  // The same as search() for scored flags, all at once. False when all of them are constant.
  bool search_binary_features(const NodeView<Criterion>& node,
                              std::span<const FeatureIndex> features, Split& best) {
    const Split* found = binary_features_.best_of(node, features);
    if (found == nullptr) return false;
    if (!found->better_than(best)) return true;
    best = *found;
    if (options_.at_random) {
      const auto& column = table_.columns[static_cast<std::size_t>(found->feature)];
      best.threshold = random_.threshold_of_binary_feature(node, found->feature, column);
    }
    return true;
  }

  // The same as search() for all of the features, where some of them are quicker searched together; else
  // false. varies: OUT what search() would return for each.
  bool search_side_by_side(const NodeView<Criterion>& node, std::span<const FeatureIndex> features,
                           Split& best, std::vector<std::uint8_t>& varies) {
    if (numeric_features_.serves()) {
      search_together(numeric_features_, node, features, best, varies);
    } else if (few_.serves(node.rows.size(), features.size())) {
      search_together(few_, node, features, best, varies);
    } else {
      return false;
    }
    return true;
  }

  // Announces the feature that will be searched after the next one, so that its codes are prefetched.
  void look_ahead(const NodeView<Criterion>& node, FeatureIndex feature) {
    if (ahead_.helps()) ahead_.point_at(feature, code_rows_, node.rows.size());
  }

  // Improves `best`. False when the feature is constant in the node, missing values included: then
  // it is constant in the node's whole subtree.
  bool search(const NodeView<Criterion>& node, FeatureIndex feature, Split& best) {
    const CodedColumn& column = table_.columns[static_cast<std::size_t>(feature)];
    if (column.n_codes() < 2) return false;
    if (limits_.is_monotonic) {
      limits_.bounds = node.bounds;
      limits_.direction = options_.monotonic[static_cast<std::size_t>(feature)];
    }
    if constexpr (Criterion::kSumsBinaryFeatures) {
      if (binary_features_.sums(feature)) return split_binary(node, feature, column, best);
    }
    if (binary_cells_.has(feature)) return split_binary_by_cell(node, feature, column, best);
    const bool is_near = code_rows_.serves(feature, node.rows.size());
    if (options_.at_random) {
      if (is_near) {
        gather_near(node, feature);
      } else {
        gather_codes(column, node.rows, codes_);
      }
      return random_.search(node, feature, column, codes_, best);
    }
    if (column.is_categorical) {
      gather_codes(column, node.rows, codes_);
      return categories_.search(node, feature, codes_, column.n_codes(), column.get_missing_code(),
                                best);
    }
    if (is_near) return by_codes(node, feature, column, code_rows_.column(feature), best);
    return std::visit(
        [&](const auto& codes) { return by_codes(node, feature, column, codes, best); },
        column.codes);
  }

 private:
  using Slot = typename Criterion::Slot;

  // The features that one of the searches of many takes are left to it.
  template <class Search>
  void search_together(Search& many, const NodeView<Criterion>& node,
                       std::span<const FeatureIndex> features, Split& best,
                       std::vector<std::uint8_t>& varies) {
    side_by_side_.clear();
    place_.clear();
    for (std::size_t f = 0; f < features.size(); ++f) {
      if (has_sums(features[f]) || !many.takes(features[f])) {
        varies[f] = search(node, features[f], best);
      } else {
        side_by_side_.push_back(features[f]);
        place_.push_back(f);
      }
    }
    if (side_by_side_.empty()) return;
    many.search(node, side_by_side_, sides_, best);
    for (std::size_t f = 0; f < side_by_side_.size(); ++f) varies[place_[f]] = many.varies(f);
  }

  // There is one split, or none.
  bool split_binary(const NodeView<Criterion>& node, FeatureIndex feature,
                    const CodedColumn& column, Split& best) {
    binary_features_.cell_of(feature, histogram_);
    sides_.part(node.total, histogram_.data());
    if (sides_.weight_left() == 0.0 || sides_.weight_right() == 0.0) return false;
    return consider_binary_feature(node, feature, column, best);
  }

  // The same from the cell of the rows that have the flag.
  bool split_binary_by_cell(const NodeView<Criterion>& node, FeatureIndex feature,
                            const CodedColumn& column, Split& best) {
    if constexpr (Criterion::kHasCells) {
      const Slot* cell = binary_cells_.cell_of(feature);
      const std::uint64_t n_flagged = criterion_.n_rows(cell);
      if (n_flagged == 0 || n_flagged == node.rows.size()) return false;
      const std::size_t width = criterion_.width();
      listed_.assign(width, Slot{});
      for (std::size_t s = 0; s < width; ++s) listed_[s] = node.total[s] - cell[s];
      sides_.reset(node.total, node.rows.size());
      sides_.move_cell(listed_.data());
      return consider_binary_feature(node, feature, column, best);
    }
    return false;
  }

  bool consider_binary_feature(const NodeView<Criterion>& node, FeatureIndex feature,
                               const CodedColumn& column, Split& best) {
    Split candidate;
    candidate.feature = feature;
    candidate.code = 0;
    candidate.next_code = 1;
    if (consider(sides_, limits_, candidate, best) && options_.at_random) {
      best.threshold = random_.threshold_of_binary_feature(node, feature, column);
    }
    return true;
  }

  template <class Codes>
  bool by_codes(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                const Codes& codes, Split& best) {
    constexpr bool kIsSparse = std::is_same_v<Codes, SparseCodes>;
    const std::size_t n_rows = node.rows.size();
    if constexpr (!Criterion::kHasCells) {
      return by_sort(node, feature, column, best);
    } else if constexpr (kIsSparse) {
      keys_.clear();
      for_each_listed(codes, node.rows,
                      [&](std::size_t i, Code code) { keys_.push_back(make_key(code, i)); });
      return by_listed(node, feature, column, codes.default_code, best);
    } else {
      const std::size_t n_slots = column.n_codes() * criterion_.width();
      const bool whole = n_slots * sizeof(Slot) <= kHistogramBytes;
      if (whole && n_slots <= kSlotsARow * n_rows &&
          (n_rows > kListedRows ||
           (n_slots * sizeof(Slot) <= kCellBytes && !is_mostly_zero(node, codes)))) {
        return by_histogram(node, feature, column, codes, best);
      }
      if (!whole && n_slots <= kPartSlotsARow * n_rows) {
        return by_parts(node, feature, column, codes, best);
      }
      list_rows(node, codes);
      return by_listed(node, feature, column, 0, best);
    }
  }

  template <class Codes>
  static bool is_mostly_zero(const NodeView<Criterion>& node, const Codes& codes) {
    const std::size_t step = node.rows.size() / kGuessed + 1;
    std::size_t n_seen = 0, n_zero = 0;
    for (std::size_t i = 0; i < node.rows.size(); i += step, ++n_seen) {
      n_zero += codes[node.rows[i]] == 0;
    }
    return 2 * n_zero > n_seen;
  }

  void gather_near(const NodeView<Criterion>& node, FeatureIndex feature) {
    const StridedCodes codes = code_rows_.column(feature);
    codes_.resize(node.rows.size());
    for (std::size_t i = 0; i < codes_.size(); ++i) codes_[i] = codes[node.rows[i]];
  }

  // A key for every row whose code is not 0.
  template <class Codes>
  void list_rows(const NodeView<Criterion>& node, const Codes& codes) {
    keys_.resize(node.rows.size());
    keys_.resize(ahead_.helps() ? list_rows_into<true>(node, codes, keys_.data())
                                : list_rows_into<false>(node, codes, keys_.data()));
  }

  template <bool kLooksAhead, class Codes>
  std::size_t list_rows_into(const NodeView<Criterion>& node, const Codes& codes, SortKey* keys) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      if constexpr (kLooksAhead) ahead_.fetch(node.rows[i]);
      const Code code = codes[node.rows[i]];
      keys[n] = make_key(code, i);
      n += code != 0;
    }
    return n;
  }

  template <class Codes>
  bool by_histogram(const NodeView<Criterion>& node, FeatureIndex feature,
                    const CodedColumn& column, const Codes& codes, Split& best) {
    const std::size_t width = criterion_.width();
    histogram_.assign(column.n_codes() * width, Slot{});
    if (ahead_.helps()) {
      fill_histogram<true>(node, codes);
    } else {
      fill_histogram<false>(node, codes);
    }
    if (criterion_.n_rows(&histogram_[codes[node.rows[0]] * width]) == node.rows.size())
      return false;
    scan_histogram(criterion_, histogram_.data(), column.n_values, column.has_missing, node.total,
                   node.rows.size(), limits_, feature, sides_, best);
    return true;
  }

  template <bool kLooksAhead, class Codes>
  void fill_histogram(const NodeView<Criterion>& node, const Codes& codes) {
    const std::size_t width = criterion_.width();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      if constexpr (kLooksAhead) ahead_.fetch(node.rows[i]);
      criterion_.add(node.local, i, &histogram_[codes[node.rows[i]] * width]);
    }
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
        sides_, node.total, node.rows.size(), n_missing > 0, limits_, feature, best,
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
    scan_sorted(criterion_, node.local, keys_, column.n_values, node.total, limits_, feature,
                sides_, best);
    return true;
  }

  // keys_ lists the rows whose code is not the usual one; the others are the rest of the node.
  bool by_listed(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                 Code usual, Split& best) {
    if (keys_.empty()) return false;
    const std::size_t width = criterion_.width();
    const std::size_t n_slots = column.n_codes() * width;
    if (n_slots <= kSlotsARow * keys_.size() && n_slots * sizeof(Slot) <= kCellBytes) {
      return by_cells(node, feature, column, usual, best);
    }
    sorter_.sort(keys_, static_cast<Code>(column.n_codes() - 1));
    const Code lowest = code_of(keys_.front());
    const bool any_other = keys_.size() < node.rows.size() && lowest != usual;
    if (lowest == code_of(keys_.back()) && !any_other) return false;
    histogram_.assign(width, Slot{});
    const bool any_unlisted = keys_.size() < node.rows.size();
    if (any_unlisted) add_unlisted(node, histogram_.data());
    if constexpr (requires { requires Criterion::kScoresRuns; }) {
      const bool any_missing = code_of(keys_.back()) == column.n_values;
      if (is_unlimited_ && usual == 0 && !any_missing) {
        return runs_.search(criterion_, node.local, keys_,
                            any_unlisted ? histogram_.data() : nullptr, node.total, feature, sides_,
                            best);
      }
    }
    scan_sparse(criterion_, node.local, keys_, usual, histogram_.data(), column.n_values,
                node.total, node.rows.size(), limits_, feature, sides_, best);
    return true;
  }

  bool by_cells(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                Code usual, Split& best) {
    const std::size_t width = criterion_.width();
    histogram_.assign(column.n_codes() * width, Slot{});
    for (const SortKey key : keys_) {
      criterion_.add(node.local, place_of(key), &histogram_[code_of(key) * width]);
    }
    if (keys_.size() < node.rows.size()) add_unlisted(node, &histogram_[usual * width]);
    if (criterion_.n_rows(&histogram_[code_of(keys_[0]) * width]) == node.rows.size()) return false;
    scan_histogram(criterion_, histogram_.data(), column.n_values, column.has_missing, node.total,
                   node.rows.size(), limits_, feature, sides_, best);
    return true;
  }

  // The rest of the node: what keys_ does not list.
  void add_unlisted(const NodeView<Criterion>& node, Slot* cell) {
    const std::size_t width = criterion_.width();
    listed_.assign(width, Slot{});
    for (const SortKey key : keys_) criterion_.add(node.local, place_of(key), listed_.data());
    for (std::size_t s = 0; s < width; ++s) cell[s] = cell[s] + node.total[s] - listed_[s];
  }

  const BinnedDataset& table_;
  const CodeRows& code_rows_;
  CodePrefetch ahead_;
  const Criterion& criterion_;
  const SearchOptions options_;
  const bool is_unlimited_;  // every split with something on both sides may be made
  const Kernels& kernels_ = kernels();
  typename Criterion::Sides sides_;
  SplitLimits limits_;  // of the node and the feature
  std::vector<Slot> histogram_;
  std::vector<Slot> listed_;
  PairSorter sorter_;
  UnfilledVector<SortKey> keys_;
  std::vector<Code> codes_;
  BinaryFeatureSearch<Criterion> binary_features_;
  BinaryFeatureCells<Criterion> binary_cells_;
  RunScores runs_;
  FewRowsSearch<Criterion> few_;
  std::vector<FeatureIndex> side_by_side_;  // that are searched together,
  std::vector<std::size_t> place_;          // and their places among those that are searched
  CategorySearch<Criterion> categories_;
  RandomSearch<Criterion> random_;
  NumericFeatureSearch<Criterion> numeric_features_;
};

}  // namespace arboleda
