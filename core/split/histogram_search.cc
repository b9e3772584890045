#include "split/histogram_search.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kNoScore = -std::numeric_limits<double>::infinity();

}  // namespace

HistogramSearch::HistogramSearch(const BinnedDataset& table, const HistogramOptions& options)
    : table_(table),
      options_(options),
      leaf_{options.l1, options.l2, options.max_delta_step},
      is_plain_(leaf_.is_plain() && options.monotonic.empty() && !options.random_thresholds) {}

void HistogramSearch::begin_tree(const SearchUnits& units) {
  units_ = units;
  leaf_.l1 = std::ldexp(options_.l1, -units.exponent);
  leaf_.max_delta_step = std::ldexp(options_.max_delta_step, -units.exponent);
}

double HistogramSearch::search(const BoostedNode& node, const RowCodes::Column& column,
                               const Histogram& histogram, Split& best) {
  const Found found = search_column(node, column, histogram, {}, best.score);
  keep(column, found.certain, best);
  return found.any.score > found.certain.score ? found.any.score : kNoScore;
}

void HistogramSearch::search_counted(const BoostedNode& node, const RowCodes::Column& column,
                                     const Histogram& histogram,
                                     std::span<const std::uint32_t> n_rows, Split& best) {
  keep(column, search_column(node, column, histogram, n_rows, best.score).certain, best);
}

double HistogramSearch::value(Wide sums, const LeafBounds& bounds) const {
  return leaf_.value(static_cast<double>(sums.gradient) * units_.gradient,
                     static_cast<double>(sums.hessian) * units_.hessian, bounds);
}

double HistogramSearch::node_score(const BoostedNode& node) const {
  const double g = static_cast<double>(node.total.gradient) * units_.gradient;
  const double h = static_cast<double>(node.total.hessian) * units_.hessian;
  return leaf_.score(g, h, leaf_.value(g, h, node.bounds));
}

HistogramSearch::Found HistogramSearch::search_column(const BoostedNode& node,
                                                      const RowCodes::Column& column,
                                                      const Histogram& histogram,
                                                      std::span<const std::uint32_t> n_rows,
                                                      double floor) {
  if (lacks_rows(node, column, histogram)) return {};
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  const std::size_t missing_cell = column.first_cell + codes.n_values;
  const Wide missing = codes.has_missing ? histogram.at(missing_cell) : Wide{};
  const bool has_missing = missing.hessian > 0;
  is_counted_ = !n_rows.empty();
  by_category_ = codes.is_categorical;
  if (by_category_) {
    group_codes(column, histogram, n_rows, codes.n_codes());
    order_categories();
    more_l2_ = more_l2(groups_.size());
    return scan_groups(node, column.feature, groups_.size(), {}, 0, false);
  }
  more_l2_ = 0.0;
  if (is_plain_ && !is_counted_) return scan_plain(node, column, histogram, has_missing, floor);
  group_codes(column, histogram, n_rows, codes.n_values);
  const std::uint32_t n_missing = is_counted_ && has_missing ? n_rows[codes.n_values] : 0;
  return scan_groups(node, column.feature, groups_.size(), missing, n_missing, has_missing);
}

// Whether nearly all rows of the node have the column's usual code: the side without them would be too
// light.
bool HistogramSearch::lacks_rows(const BoostedNode& node, const RowCodes::Column& column,
                                 const Histogram& histogram) const {
  if (column.usual == RowCodes::kNoUsual) return false;
  const Wide usual = histogram.at(column.first_cell + column.usual);
  return node.total.hessian - usual.hessian < units_.least;
}

HistogramSearch::Found HistogramSearch::scan_plain(const BoostedNode& node,
                                                   const RowCodes::Column& column,
                                                   const Histogram& histogram, bool has_missing,
                                                   double floor) const {
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  const auto& loops = kernels().histograms;
  const double unit = units_.gradient * units_.gradient / units_.hessian;
  ScanRange range{codes.n_values, {},   node.total, options_.l2 / units_.hessian, units_.least,
                  units_.enough,  unit, floor};
  Found found;
  for (const bool missing_left : {false, true}) {
    if (missing_left) {
      if (!has_missing) break;
      range.left = histogram.at(column.first_cell + codes.n_values);
    }
    const ScanResult scanned = histogram.is_wide()
                                   ? loops.scan_wide(histogram.wide() + column.first_cell, range)
                                   : loops.scan(histogram.packed() + column.first_cell, range);
    const auto better = [&](const ScanBest& scan, Candidate& kept) {
      if (scan.score >= 0.0 && scan.score > kept.score) {
        kept = {scan.score, scan.code, missing_left};
      }
    };
    better(scanned.any, found.any);
    better(scanned.certain, found.certain);
  }
  return found;
}

// The codes that the node has, ascending.
void HistogramSearch::group_codes(const RowCodes::Column& column, const Histogram& histogram,
                                  std::span<const std::uint32_t> n_rows, std::size_t n_codes) {
  groups_.resize(n_codes);
  std::size_t n_groups = 0;
  for (std::size_t code = 0; code < n_codes; ++code) {
    const Wide sum = histogram.at(column.first_cell + code);
    // Written in any case, and kept where there are rows: no branch to predict.
    groups_[n_groups] = {static_cast<Code>(code), sum, is_counted_ ? n_rows[code] : 0, 0.0};
    n_groups += sum.hessian != 0;
  }
  groups_.resize(n_groups);
}

// By the smoothed Newton step: of all ways to part the categories in two, the best of a second-order
// objective is a cut of this order (Fisher 1958); the smoothing moves rare categories to the middle.
void HistogramSearch::order_categories() {
  for (Group& group : groups_) {
    group.key = category_key(static_cast<double>(group.sum.gradient),
                             static_cast<double>(group.sum.hessian));
  }
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return a.key < b.key || (a.key == b.key && a.code < b.code);
  });
}

// A cut of k categories in the order of their steps is chosen with hindsight: of categories without
// any effect it takes the lucky half for the left side, whose score then grows with k. With l2
// growing likewise, what each category brings is shrunk by its own hessian against a constant.
// Nothing is chosen where there are two.
double HistogramSearch::more_l2(std::size_t n_categories) const {
  return n_categories < 3 ? 0.0 : options_.category_l2 * static_cast<double>(n_categories - 2);
}

double HistogramSearch::more_l2(const RowCodes::Column& column, const Histogram& histogram) const {
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  if (!codes.is_categorical) return 0.0;
  std::size_t n = 0;
  for (std::size_t code = 0; code < codes.n_codes(); ++code) {
    n += histogram.at(column.first_cell + code).hessian > 0;
  }
  return more_l2(n);
}

// No cut separates categories of the same key, so their numbers do not matter.
bool HistogramSearch::is_tied(std::size_t i) const {
  return i + 1 < groups_.size() && groups_[i].key == groups_[i + 1].key;
}

double HistogramSearch::category_key(double gradient, double hessian) const {
  const double smoothed = hessian + options_.category_smoothing / units_.hessian;
  return smoothed > 0.0 ? gradient / smoothed : 0.0;
}

std::uint32_t HistogramSearch::draw(std::uint32_t n, FeatureIndex feature,
                                    std::uint64_t key) const {
  RandomStream random(units_.seed, Purpose::random_split, units_.tree,
                      feature_key(key, static_cast<std::uint32_t>(feature)));
  return random.below(n);
}

HistogramSearch::Found HistogramSearch::scan_groups(const BoostedNode& node, FeatureIndex feature,
                                                    std::size_t n_groups, Wide missing,
                                                    std::uint32_t n_missing,
                                                    bool has_missing) const {
  Found found;
  const bool draws = options_.random_thresholds && n_groups > 1;
  std::size_t drawn = draws ? draw(static_cast<std::uint32_t>(n_groups - 1), feature, node.key) : 0;
  while (by_category_ && draws && is_tied(drawn)) ++drawn;
  for (const bool missing_left : {false, true}) {
    if (missing_left && !has_missing) break;
    Wide left = missing_left ? missing : Wide{};
    std::uint64_t n_left = missing_left ? n_missing : 0;
    for (std::size_t i = 0; i < n_groups; ++i) {
      left = left + groups_[i].sum;
      n_left += groups_[i].n_rows;
      if ((draws && i != drawn) || (by_category_ && is_tied(i))) continue;
      const Candidate candidate{0.0, by_category_ ? i : groups_[i].code, missing_left};
      consider(node, feature, left, n_left, candidate, found);
    }
  }
  return found;
}

void HistogramSearch::consider(const BoostedNode& node, FeatureIndex feature, Wide left,
                               std::uint64_t n_left, const Candidate& candidate,
                               Found& found) const {
  if (is_counted_ &&
      (n_left < options_.min_samples_leaf || node.n_rows - n_left < options_.min_samples_leaf)) {
    return;
  }
  const double score = allowed_score(node, feature, left, more_l2_);
  const Wide right = node.total - left;
  const bool certain =
      is_counted_ || (left.hessian >= units_.enough && right.hessian >= units_.enough);
  for (Candidate* kept : {&found.any, certain ? &found.certain : &found.any}) {
    if (score > kept->score) *kept = {score, candidate.place, candidate.missing_left};
  }
}

double HistogramSearch::allowed_score(const BoostedNode& node, FeatureIndex feature, Wide left,
                                      double more_l2) const {
  const Wide right = node.total - left;
  if (left.hessian < units_.least || right.hessian < units_.least) return kNoScore;
  const double gl = static_cast<double>(left.gradient);
  const double hl = static_cast<double>(left.hessian);
  const double gr = static_cast<double>(right.gradient);
  const double hr = static_cast<double>(right.hessian);
  if (leaf_.is_plain() && options_.monotonic.empty()) {
    // As simd/generic/histogram.inc computes it.
    const double l2 = (options_.l2 + more_l2) / units_.hessian;
    const double unit = units_.gradient * units_.gradient / units_.hessian;
    return (gl * gl * (hr + l2) + gr * gr * (hl + l2)) / ((hl + l2) * (hr + l2)) * unit;
  }
  const double ug = units_.gradient;
  const double uh = units_.hessian;
  const double vl = leaf_.value(gl * ug, hl * uh, node.bounds, more_l2);
  const double vr = leaf_.value(gr * ug, hr * uh, node.bounds, more_l2);
  const int direction =
      options_.monotonic.empty() ? 0 : options_.monotonic[static_cast<std::size_t>(feature)];
  if ((direction > 0 && vl > vr) || (direction < 0 && vl < vr)) return kNoScore;
  return leaf_.score(gl * ug, hl * uh, vl, more_l2) + leaf_.score(gr * ug, hr * uh, vr, more_l2);
}

void HistogramSearch::keep(const RowCodes::Column& column, const Candidate& candidate,
                           Split& best) const {
  if (candidate.score == kNoScore) return;
  Split split;
  split.score = candidate.score;
  split.feature = column.feature;
  if (!split.better_than(best)) return;
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  split.missing_left = candidate.missing_left;
  if (by_category_) {
    for (std::size_t i = 0; i <= candidate.place; ++i) split.left_codes.push_back(groups_[i].code);
    std::sort(split.left_codes.begin(), split.left_codes.end());
    split.missing_left = codes.has_missing && split.left_codes.back() == codes.get_missing_code();
  } else {
    split.code = static_cast<Code>(candidate.place);
  }
  best = std::move(split);
}

BoostedSplit HistogramSearch::complete(const Split& split, const RowCodes::Column& column,
                                       const Histogram& histogram) const {
  const CodedColumn& codes = table_.columns[static_cast<std::size_t>(column.feature)];
  const Wide missing =
      codes.has_missing ? histogram.at(column.first_cell + codes.n_values) : Wide{};
  Wide left{};
  for (const Code code : split.left_codes) left = left + histogram.at(column.first_cell + code);
  if (split.left_codes.empty()) {
    left = histogram.sum(column.first_cell, column.first_cell + split.code + 1);
    if (split.missing_left) left = left + missing;
  }
  return {split, left, missing.hessian > 0};
}

void HistogramSearch::add_scores(const BoostedNode& node, const Histogram& histogram,
                                 std::size_t first_cell, std::size_t n_codes, Wide missing,
                                 double without, double* totals) const {
  const auto& loops = kernels().histograms;
  const double unit = units_.gradient * units_.gradient / units_.hessian;
  const ScanRange range{n_codes,      missing,       node.total, options_.l2 / units_.hessian,
                        units_.least, units_.enough, unit};
  if (histogram.is_wide()) {
    loops.add_scores_wide(histogram.wide() + first_cell, range, without, totals);
  } else {
    loops.add_scores(histogram.packed() + first_cell, range, without, totals);
  }
}

}  // namespace arboleda
