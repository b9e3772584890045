#include "split/vector_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// Steps of the power method: enough to tell categories apart, always the same number.
constexpr int kComponentSteps = 16;

}  // namespace

VectorSearch::VectorSearch(const BinnedDataset& table, const RowCodes& codes,
                           const VectorCells& cells, const HistogramOptions& options)
    : table_(table),
      codes_(codes),
      cells_(cells),
      options_(options),
      leaf_{options.l1, options.l2, options.max_delta_step},
      score_units_(cells.width()),
      total_gradient_(cells.width()),
      total_hessian_(cells.width()),
      left_packed_(cells.width()),
      left_wide_(cells.width()) {}

void VectorSearch::begin_tree(const VectorUnits& units) {
  units_ = units;
  leaf_.l1 = std::ldexp(options_.l1, -units.exponent);
  leaf_.max_delta_step = std::ldexp(options_.max_delta_step, -units.exponent);
  min_hessian_ = options_.min_child_weight / units.hessian;
  for (std::size_t k = 0; k < units.gradient.size(); ++k) {
    score_units_[k] = units.gradient[k] * units.gradient[k] / units.hessian;
  }
}

void VectorSearch::begin_node(const BoostedNode& node, std::span<const Wide> totals) {
  node_ = &node;
  totals_ = totals;
  for (std::size_t c = 0; c < totals.size(); ++c) {
    total_gradient_[c] = static_cast<double>(totals[c].gradient);
    total_hessian_[c] = static_cast<double>(totals[c].hessian);
  }
}

const CodedColumn& VectorSearch::coded(std::size_t column) const {
  return table_.columns[static_cast<std::size_t>(codes_.columns()[column].feature)];
}

bool VectorSearch::has_missing(std::size_t column, const Histogram& histogram) const {
  const CodedColumn& codes = coded(column);
  if (!codes.has_missing) return false;
  const std::size_t cell = cells_.begin_of(column) + codes.n_values * cells_.width();
  return histogram.at(cell + units_.gradient.size()).hessian > 0;
}

void VectorSearch::search(std::size_t column, const Histogram& histogram, Split& best) {
  if (lacks_rows(column, histogram)) return;
  const CodedColumn& codes = coded(column);
  if (codes.is_categorical) {
    group_codes(column, histogram, codes.n_codes());
    order_categories(column, histogram);
    return scan_groups(column, histogram, false, best);
  }
  const bool is_plain = leaf_.is_plain() && !options_.random_thresholds;
  if (!is_plain) group_codes(column, histogram, codes.n_values);
  for (const bool missing_left : {false, true}) {
    if (missing_left && !has_missing(column, histogram)) break;
    if (is_plain) {
      scan(column, histogram, missing_left, best);
    } else {
      scan_groups(column, histogram, missing_left, best);
    }
  }
}

// Whether nearly all rows of the node have the column's usual code: the side without them would have too
// few.
bool VectorSearch::lacks_rows(std::size_t column, const Histogram& histogram) const {
  const Code usual = codes_.columns()[column].usual;
  if (usual == RowCodes::kNoUsual) return false;
  const std::size_t n_outputs = units_.gradient.size();
  const std::size_t cell = cells_.begin_of(column) + usual * cells_.width() + n_outputs;
  return totals_[n_outputs].hessian - histogram.at(cell).hessian < min_rows();
}

std::int64_t VectorSearch::min_rows() const {
  return static_cast<std::int64_t>(std::max<std::uint64_t>(options_.min_samples_leaf, 1));
}

void VectorSearch::add_code(std::size_t column, Code code, const Histogram& histogram,
                            Wide* sums) const {
  const std::size_t cell = cells_.begin_of(column) + code * cells_.width();
  for (std::size_t c = 0; c < cells_.width(); ++c) sums[c] = sums[c] + histogram.at(cell + c);
}

void VectorSearch::scan(std::size_t column, const Histogram& histogram, bool missing_left,
                        Split& best) {
  const auto& loops = kernels().vector_histograms;
  const CodedColumn& codes = coded(column);
  std::fill(left_wide_.begin(), left_wide_.end(), Wide{});
  if (missing_left) add_code(column, codes.get_missing_code(), histogram, left_wide_.data());
  const VectorScanRange range{.n_codes = codes.n_values,
                              .width = cells_.width(),
                              .n_outputs = units_.gradient.size(),
                              .total_gradient = total_gradient_.data(),
                              .total_hessian = total_hessian_.data(),
                              .unit = score_units_.data(),
                              .l2 = options_.l2 / units_.hessian,
                              .min_rows = static_cast<double>(min_rows()),
                              .min_hessian = min_hessian_};
  const std::size_t begin = cells_.begin_of(column);
  ScanBest found;
  if (histogram.is_wide()) {
    found = loops.scan_wide(histogram.wide() + begin, left_wide_.data(), range);
  } else {
    std::transform(left_wide_.begin(), left_wide_.end(), left_packed_.begin(), to_packed);
    found = loops.scan(histogram.packed() + begin, left_packed_.data(), range);
  }
  if (found.score < 0.0) return;
  Split split;
  split.score = found.score;
  split.feature = codes_.columns()[column].feature;
  split.code = static_cast<Code>(found.code);
  split.missing_left = missing_left;
  if (split.better_than(best)) best = std::move(split);
}

// The codes that the node has, ascending.
void VectorSearch::group_codes(std::size_t column, const Histogram& histogram,
                               std::size_t n_codes) {
  groups_.clear();
  const std::size_t count = cells_.begin_of(column) + units_.gradient.size();
  for (std::size_t code = 0; code < n_codes; ++code) {
    if (histogram.at(count + code * cells_.width()).hessian > 0) {
      groups_.push_back({static_cast<Code>(code), 0.0});
    }
  }
}

// By the first principal component of the categories' steps; category_smoothing moves rare ones to the
// middle.
void VectorSearch::order_categories(std::size_t column, const Histogram& histogram) {
  const std::size_t n_outputs = units_.gradient.size();
  const std::size_t n_groups = groups_.size();
  std::vector<double> weight(n_groups), mean(n_outputs), variance(n_outputs);
  steps_.assign(n_groups * n_outputs, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < n_groups; ++i) {
    const std::size_t cell = cells_.begin_of(column) + groups_[i].code * cells_.width();
    weight[i] = static_cast<double>(histogram.at(cell + n_outputs).hessian);
    total += weight[i];
    for (std::size_t k = 0; k < n_outputs; ++k) {
      const Wide sum = histogram.at(cell + k);
      const double h =
          static_cast<double>(sum.hessian) * units_.hessian + options_.category_smoothing;
      const double g = static_cast<double>(sum.gradient) * units_.gradient[k];
      steps_[i * n_outputs + k] = h > 0.0 ? g / h : 0.0;
      mean[k] += weight[i] * steps_[i * n_outputs + k];
    }
  }
  for (std::size_t i = 0; i < n_groups; ++i) {
    for (std::size_t k = 0; k < n_outputs; ++k) {
      double& step = steps_[i * n_outputs + k];
      step -= mean[k] / total;
      variance[k] += weight[i] * step * step;
    }
  }
  // The power method, from the output that varies most.
  const auto most = std::max_element(variance.begin(), variance.end());
  std::vector<double> component(n_outputs), next(n_outputs);
  component[static_cast<std::size_t>(most - variance.begin())] = 1.0;
  const auto project = [&](std::size_t i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_outputs; ++k) sum += steps_[i * n_outputs + k] * component[k];
    return sum;
  };
  for (int step = 0; step < kComponentSteps; ++step) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t i = 0; i < n_groups; ++i) {
      const double along = weight[i] * project(i);
      for (std::size_t k = 0; k < n_outputs; ++k) next[k] += along * steps_[i * n_outputs + k];
    }
    double largest = 0.0;
    for (const double x : next) largest = std::max(largest, std::abs(x));
    if (!(largest > 0.0)) break;
    for (std::size_t k = 0; k < n_outputs; ++k) component[k] = next[k] / largest;
  }
  for (std::size_t i = 0; i < n_groups; ++i) groups_[i].key = project(i);
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return a.key < b.key || (a.key == b.key && a.code < b.code);
  });
}

bool VectorSearch::is_tied(std::size_t group) const {
  return group + 1 < groups_.size() && groups_[group].key == groups_[group + 1].key;
}

void VectorSearch::scan_groups(std::size_t column, const Histogram& histogram, bool missing_left,
                               Split& best) {
  const CodedColumn& codes = coded(column);
  const bool by_category = codes.is_categorical;
  const FeatureIndex feature = codes_.columns()[column].feature;
  const std::size_t n = groups_.size();
  const double more_l2 =
      by_category && n > 2 ? options_.category_l2 * static_cast<double>(n - 2) : 0.0;
  const bool draws = options_.random_thresholds && n > 1;
  std::size_t drawn = 0;
  if (draws) {
    RandomStream random(units_.seed, Purpose::random_split, units_.tree,
                        feature_key(node_->key, static_cast<std::uint32_t>(feature)));
    drawn = random.below(static_cast<std::uint32_t>(n - 1));
    while (by_category && is_tied(drawn)) ++drawn;
  }
  std::fill(left_wide_.begin(), left_wide_.end(), Wide{});
  if (missing_left) add_code(column, codes.get_missing_code(), histogram, left_wide_.data());
  for (std::size_t i = 0; i < n; ++i) {
    add_code(column, groups_[i].code, histogram, left_wide_.data());
    if ((draws && i != drawn) || (by_category && is_tied(i)) || !is_allowed(left_wide_)) continue;
    Split split;
    split.score = score(left_wide_, more_l2);
    split.feature = feature;
    if (!split.better_than(best)) continue;
    split.missing_left = missing_left;
    if (by_category) {
      for (std::size_t j = 0; j <= i; ++j) split.left_codes.push_back(groups_[j].code);
      std::sort(split.left_codes.begin(), split.left_codes.end());
      split.missing_left = codes.has_missing && split.left_codes.back() == codes.get_missing_code();
    } else {
      split.code = groups_[i].code;
    }
    best = std::move(split);
  }
}

bool VectorSearch::is_allowed(std::span<const Wide> left) const {
  const std::size_t n_outputs = units_.gradient.size();
  const Wide rows = left[n_outputs];
  if (std::min(rows.hessian, totals_[n_outputs].hessian - rows.hessian) < min_rows()) return false;
  double on_left = 0.0, on_right = 0.0;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    on_left += static_cast<double>(left[k].hessian);
    on_right += static_cast<double>(totals_[k].hessian - left[k].hessian);
  }
  return on_left >= min_hessian_ && on_right >= min_hessian_;
}

double VectorSearch::allowed_score(std::span<const Wide> left) const {
  return is_allowed(left) ? score(left, 0.0) : -std::numeric_limits<double>::infinity();
}

// A split and the one with its sides exchanged have the same score, to the bit.
double VectorSearch::score(std::span<const Wide> left, double more_l2) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < units_.gradient.size(); ++k) {
    sum += output_score(k, left[k], more_l2) + output_score(k, totals_[k] - left[k], more_l2);
  }
  return sum;
}

double VectorSearch::output_score(std::size_t output, Wide sum, double more_l2) const {
  const double g = static_cast<double>(sum.gradient) * units_.gradient[output];
  const double h = static_cast<double>(sum.hessian) * units_.hessian;
  return leaf_.score(g, h, leaf_.value(g, h, {}, more_l2), more_l2);
}

double VectorSearch::node_score(std::span<const Wide> totals) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < units_.gradient.size(); ++k) sum += output_score(k, totals[k], 0.0);
  return sum;
}

std::vector<Wide> VectorSearch::left_of(const Split& split, std::size_t column,
                                        const Histogram& histogram) const {
  std::vector<Wide> left(cells_.width());
  for (const Code code : split.left_codes) add_code(column, code, histogram, left.data());
  if (split.left_codes.empty()) {
    for (Code code = 0; code <= split.code; ++code) {
      add_code(column, code, histogram, left.data());
    }
    if (split.missing_left) {
      add_code(column, coded(column).get_missing_code(), histogram, left.data());
    }
  }
  return left;
}

}  // namespace arboleda
