#include "split/random_draw.h"

namespace arboleda {

namespace {

// Uniform on [low, high).
double draw_between(double low, double high, QuickStream& random) {
  const double u = random.uniform();
  const double t = low * (1.0 - u) + high * u;
  return t >= low && t < high ? t : low;
}

PresentCodes find_range(const CodedColumn& column, std::span<const Code> codes) {
  PresentCodes range;
  if (column.has_missing) {
    const Code missing = column.get_missing_code();
    for (const Code code : codes) {
      const bool is_present = code != missing;
      range.lowest = std::min(range.lowest, code);
      range.highest = std::max(range.highest, is_present ? code : Code{0});
      range.n_present += is_present;
    }
  } else {
    for (const Code code : codes) {
      range.lowest = std::min(range.lowest, code);
      range.highest = std::max(range.highest, code);
    }
    range.n_present = codes.size();
  }
  range.is_one_code = range.n_present == 0 || range.lowest == range.highest;
  return range;
}

}  // namespace

bool RandomDraw::draw_split(std::span<const RowIndex> rows, std::uint64_t key, FeatureIndex feature,
                            const CodedColumn& column, std::span<const Code> codes, Split& drawn) {
  QuickStream random = stream_of(key, feature);
  range_ = find_range(column, codes);
  if (range_.n_present == 0 || (range_.is_one_code && range_.n_present == codes.size())) {
    return false;
  }
  drawn.feature = feature;
  drawn.code = range_.highest;
  if (column.is_categorical) {
    draw_categories(column, codes, random, drawn);
  } else if (!range_.is_one_code) {
    draw_number(rows, column, codes, random, drawn);
  }
  return true;
}

double RandomDraw::draw_threshold(std::uint64_t key, FeatureIndex feature,
                                  const CodedColumn& column, Code lowest, Code highest) const {
  QuickStream random = stream_of(key, feature);
  return draw_between(column.values[lowest], column.values[highest], random);
}

double RandomDraw::threshold_of_binary_feature(std::uint64_t key, FeatureIndex feature,
                                               const CodedColumn& column) const {
  return threshold_from(column, 0, draw_threshold(key, feature, column, 0, 1));
}

// The threshold, and the largest code whose values are not above it.
void RandomDraw::draw_number(std::span<const RowIndex> rows, const CodedColumn& column,
                             std::span<const Code> codes, QuickStream& random, Split& drawn) const {
  if (!column.values.empty()) {
    const double* values = column.values.data();
    const double t = draw_between(values[range_.lowest], values[range_.highest], random);
    const Code missing = column.get_missing_code();
    const auto code_of = [&](std::size_t i) {
      return codes[i] == missing ? range_.lowest : codes[i];  // missing rows have no value
    };
    drawn.code = codes.size() <= kFewDrawnRows && column.upper.empty()
                     ? last_among(column, range_.lowest, t, codes.size(), code_of)
                     : last_not_above(column, range_.lowest, range_.highest, t);
    drawn.threshold = threshold_from(column, drawn.code, t);
    return;
  }
  const auto value_of = [&](std::size_t i) { return column.source[rows[i]] + 0.0; };
  const auto value_at = [&](Code code) {
    return value_of(static_cast<std::size_t>(std::ranges::find(codes, code) - codes.begin()));
  };
  const double t = draw_between(value_at(range_.lowest), value_at(range_.highest), random);
  drawn.code = range_.lowest;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (value_of(i) <= t) drawn.code = std::max(drawn.code, codes[i]);
  }
  drawn.threshold = t;
}

// Every present category goes left or right by the toss of a coin, but not all of them.
void RandomDraw::draw_categories(const CodedColumn& column, std::span<const Code> codes,
                                 QuickStream& random, Split& drawn) {
  find_present(column, codes);
  if (range_.is_one_code) {
    drawn.left_codes = present_;
    return;
  }
  for (const Code code : present_) {
    if (random.below(2) == 0) drawn.left_codes.push_back(code);
  }
  const Code other = present_[random.below(static_cast<std::uint32_t>(present_.size()))];
  if (drawn.left_codes.empty()) drawn.left_codes.push_back(other);
  if (drawn.left_codes.size() == present_.size()) std::erase(drawn.left_codes, other);
  for (const Code code : present_) goes_left_[code] = 0;
  for (const Code code : drawn.left_codes) goes_left_[code] = 1;
}

// Marks the categories of the node and no other. Costs nothing for those that are not there: a
// small node of a column with many is as cheap as any.
void RandomDraw::find_present(const CodedColumn& column, std::span<const Code> codes) {
  for (const Code code : present_) goes_left_[code] = 0;
  present_.clear();
  goes_left_.resize(std::max(goes_left_.size(), column.n_values), 0);
  for (const Code code : codes) {
    if (code == column.get_missing_code() || goes_left_[code]) continue;
    goes_left_[code] = 1;
    present_.push_back(code);
  }
  std::sort(present_.begin(), present_.end());
}

}  // namespace arboleda
