// Finds the best split of one node on one feature. Binary features: from sums over all of them
// at once. Other numeric features: by histogram while the node is large, by sorting its rows once it
// is small beside the feature's codes.
//
// Rows of the smallest code are not read: their statistic is the node's less that of the others. Most
// tables are full of zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "data/binned_dataset.h"
#include "data/pair_sorter.h"
#include "layout/row_layouts.h"
#include "simd/kernels.h"
#include "split/binary_feature_search.h"
#include "split/category_search.h"
#include "split/class_node.h"
#include "split/few_rows_search.h"
#include "split/mean_node.h"
#include "split/node_codes.h"
#include "split/node_view.h"
#include "split/numeric_feature_search.h"
#include "split/random_draw.h"
#include "split/random_search.h"
#include "split/run_scores.h"
#include "split/scan.h"
#include "split/search_options.h"
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

// Scratch of one thread.
template <class Criterion>
class FeatureSearch {
 public:
  FeatureSearch(const BinnedDataset& table, const RowLayouts& layouts, const Criterion& criterion,
                const SearchOptions& options)
      : table_(table),
        node_codes_(table, layouts.codes),
        criterion_(criterion),
        options_(options),
        is_unlimited_(options.limits.min_rows <= 1 && options.limits.min_weight <= 0.0 &&
                      !options.limits.is_monotonic),
        sides_(criterion.make_sides()),
        limits_(options.limits),
        binary_features_(layouts.binary_features, criterion.n_outputs(),
                         options.limits.min_rows > 1, fits_bytes(),
                         is_unlimited_ && kScoresBinaryFeatures),
        binary_cells_(layouts.lists, criterion),
        few_(table, node_codes_, kScoresRuns && is_unlimited_ && !options.at_random),
        categories_(criterion, limits_),
        draw_(options.seed, options.tree),
        random_(criterion, limits_, draw_),
        numeric_features_(table, layouts.numeric_features, kScoresMeans ? 0 : criterion.n_outputs(),
                          draw_,
                          is_unlimited_ && options.at_random &&
                              (kScoresMeans || (kScoresBinaryFeatures && fits_bytes()))) {}
  FeatureSearch(const FeatureSearch&) = delete;  // its parts share its limits

  BinaryFeatureSearch& binary_features() { return binary_features_; }
  NumericFeatureSearch& numeric_features() { return numeric_features_; }

  // Call before features of a node are searched. list: these features.
  void begin(const NodeView<Criterion>& node, std::span<const FeatureIndex> features) {
    if constexpr (Criterion::kSumsBinaryFeatures) binary_features_.sum(class_node(node), features);
    binary_cells_.sum(node);
  }

  // Whether begin() has computed all sums that the feature needs.
  bool has_sums(FeatureIndex feature) const {
    return binary_features_.sums(feature) || binary_cells_.has(feature);
  }

  // The same as search() for scored flags, all at once. False when all of them are constant.
  bool search_binary_features(const NodeView<Criterion>& node,
                              std::span<const FeatureIndex> features, Split& best) {
    if constexpr (Criterion::kSumsBinaryFeatures) {
      const Split* found = binary_features_.best_of(class_node(node), features);
      if (found == nullptr) return false;
      if (!found->better_than(best)) return true;
      best = *found;
      if (options_.at_random) {
        const auto& column = table_.columns[static_cast<std::size_t>(found->feature)];
        best.threshold = draw_.threshold_of_binary_feature(node.key, found->feature, column);
      }
      return true;
    }
    return false;
  }

  // The same as search() for all of the features, where some of them are quicker searched together; else
  // false. varies: OUT what search() would return for each.
  bool search_side_by_side(const NodeView<Criterion>& node, std::span<const FeatureIndex> features,
                           Split& best, std::vector<std::uint8_t>& varies) {
    const bool at_random = numeric_features_.serves();
    if (!at_random && !few_.serves(node.rows.size(), features.size())) return false;
    side_by_side_.clear();
    place_.clear();
    for (std::size_t f = 0; f < features.size(); ++f) {
      const FeatureIndex feature = features[f];
      const bool is_taken = at_random ? numeric_features_.takes(feature) : few_.takes(feature);
      if (!is_taken || has_sums(feature)) {
        varies[f] = search(node, feature, best);
      } else {
        side_by_side_.push_back(feature);
        place_.push_back(f);
      }
    }
    if (side_by_side_.empty()) return true;
    search_together(node, best);
    for (std::size_t f = 0; f < place_.size(); ++f) {
      varies[place_[f]] = at_random ? numeric_features_.varies(f) : few_.varies(f);
    }
    return true;
  }

  // Announces the feature that will be searched after the next one, so that its codes are prefetched.
  void look_ahead(const NodeView<Criterion>& node, FeatureIndex feature) {
    node_codes_.look_ahead(feature, node.rows.size());
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
    if (!options_.at_random && !column.is_categorical) return by_codes(node, feature, column, best);
    node_codes_.gather(node.rows, feature, codes_);
    if (options_.at_random) return random_.search(node, feature, column, codes_, best);
    return categories_.search(node, feature, codes_, column.n_codes(), column.get_missing_code(),
                              best);
  }

 private:
  using Slot = typename Criterion::Slot;
  // kernels().split_scores has the score, for class weights and for sorted rows of any kind.
  static constexpr bool kScoresBinaryFeatures =
      requires { requires Criterion::kScoresBinaryFeatures; };
  static constexpr bool kScoresRuns = requires { requires Criterion::kScoresRuns; };
  static constexpr bool kScoresMeans = kScoresRuns && !Criterion::kSumsBinaryFeatures;

  bool fits_bytes() const {
    if constexpr (Criterion::kSumsBinaryFeatures) return criterion_.max_weight() <= UINT8_MAX;
    return false;
  }

  static ClassNode class_node(const NodeView<Criterion>& node) {
    return {node.rows, node.local.entry.data(), node.total};
  }

  // The features of side_by_side_.
  void search_together(const NodeView<Criterion>& node, Split& best) {
    if constexpr (kScoresBinaryFeatures) {
      if (numeric_features_.serves()) {
        return numeric_features_.search(class_node(node), node.key, side_by_side_, best);
      }
    }
    if constexpr (kScoresMeans) {
      if (numeric_features_.serves()) {
        return numeric_features_.search(mean_node(node), node.key, side_by_side_, best);
      }
    }
    if constexpr (kScoresRuns) few_.search(criterion_, node, side_by_side_, sides_, best);
  }

  MeanNode mean_node(const NodeView<Criterion>& node) {
    const auto& [target, weight] = node.local;
    sides_.reset(node.total, target.size());
    sums_.resize(target.size());
    for (std::size_t i = 0; i < target.size(); ++i) {
      sums_[i] = (target[i] - sides_.centre()) * criterion_.weight_of(node.local, i);
    }
    return {node.rows, sums_.data(), weight.empty() ? nullptr : weight.data(), sides_.right().sum,
            sides_.right().weight};
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
      best.threshold = draw_.threshold_of_binary_feature(node.key, feature, column);
    }
    return true;
  }

  bool by_codes(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                Split& best) {
    const std::size_t n_rows = node.rows.size();
    if constexpr (!Criterion::kHasCells) {
      return by_sort(node, feature, column, best);
    } else {
      if (node_codes_.are_listed(feature)) {
        const Code usual = node_codes_.list_listed(node.rows, feature, keys_);
        return by_listed(node, feature, column, usual, best);
      }
      const std::size_t n_slots = column.n_codes() * criterion_.width();
      const bool whole = n_slots * sizeof(Slot) <= kHistogramBytes;
      if (whole && n_slots <= kSlotsARow * n_rows &&
          (n_rows > kListedRows || (n_slots * sizeof(Slot) <= kCellBytes &&
                                    !node_codes_.are_mostly_zero(node.rows, feature)))) {
        return by_histogram(node, feature, column, best);
      }
      if (!whole && n_slots <= kPartSlotsARow * n_rows) {
        return by_parts(node, feature, column, best);
      }
      node_codes_.list_nonzero(node.rows, feature, keys_);
      return by_listed(node, feature, column, 0, best);
    }
  }

  bool by_histogram(const NodeView<Criterion>& node, FeatureIndex feature,
                    const CodedColumn& column, Split& best) {
    const std::size_t width = criterion_.width();
    histogram_.assign(column.n_codes() * width, Slot{});
    Code first = 0;
    node_codes_.visit(feature, node.rows.size(), [&](const auto codes) {
      first = codes[node.rows[0]];
      fill_histogram(node, codes);
    });
    if (criterion_.n_rows(&histogram_[first * width]) == node.rows.size()) return false;
    scan_histogram(criterion_, histogram_.data(), column.n_values, column.has_missing, node.total,
                   node.rows.size(), limits_, feature, sides_, best);
    return true;
  }

  template <class Codes>
  void fill_histogram(const NodeView<Criterion>& node, const Codes codes) {
    const std::size_t width = criterion_.width();
    Slot* const histogram = histogram_.data();
    const CodePrefetch ahead = node_codes_.ahead();
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
      ahead.fetch(node.rows[i]);
      criterion_.add(node.local, i, histogram + codes[node.rows[i]] * width);
    }
  }

  // A histogram of a large node with many codes, made and scanned in parts: they stay in the cache,
  // and memory stays small.
  bool by_parts(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
                Split& best) {
    const std::size_t width = criterion_.width();
    const std::size_t n_cells =
        std::max(kHistogramBytes / (sizeof(Slot) * width), column.n_codes() / kParts + 1);
    node_codes_.gather(node.rows, feature, codes_);
    if (std::ranges::count(codes_, codes_[0]) == std::ssize(codes_)) return false;
    // Adds the rows with codes from `begin` on; those of no part of it, to the cell after the last.
    const auto fill = [&](std::size_t begin) {
      histogram_.assign((n_cells + 1) * width, Slot{});
      for (std::size_t i = 0; i < codes_.size(); ++i) {
        const std::size_t cell = std::min<std::size_t>(codes_[i] - begin, n_cells);
        criterion_.add(node.local, i, &histogram_[cell * width]);
      }
    };
    std::vector<Slot> missing(width);
    if (column.has_missing) {
      fill(column.n_values);
      std::copy_n(histogram_.begin(), width, missing.begin());
    }
    scan_feature(
        sides_, node.total, node.rows.size(), criterion_.n_rows(missing.data()) > 0, limits_,
        feature, best, [&] { sides_.move_cell(missing.data()); },
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

  bool by_sort(const NodeView<Criterion>& node, FeatureIndex feature, const CodedColumn& column,
               Split& best) {
    node_codes_.gather(node.rows, feature, codes_);
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
    if constexpr (kScoresRuns) {
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
  NodeCodes node_codes_;
  const Criterion& criterion_;
  const SearchOptions options_;
  const bool is_unlimited_;  // every split with something on both sides may be made
  const Kernels& kernels_ = kernels();
  typename Criterion::Sides sides_;
  SplitLimits limits_;  // of the node and the feature
  std::vector<Slot> histogram_;
  std::vector<Slot> listed_;
  UnfilledVector<std::int64_t> sums_;  // of the rows of a node
  PairSorter sorter_;
  UnfilledVector<SortKey> keys_;
  std::vector<Code> codes_;
  BinaryFeatureSearch binary_features_;
  BinaryFeatureCells<Criterion> binary_cells_;
  RunScores runs_;
  FewRowsSearch few_;
  std::vector<FeatureIndex> side_by_side_;  // that are searched together,
  std::vector<std::size_t> place_;          // and their places among those that are searched
  CategorySearch<Criterion> categories_;
  RandomDraw draw_;
  RandomSearch<Criterion> random_;
  NumericFeatureSearch numeric_features_;
};

}  // namespace arboleda
