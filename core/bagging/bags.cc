#include "bagging/bags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/fixed_point.h"
#include "base/random.h"
#include "simd/random_blocks.h"

namespace arboleda {

namespace {

// Calls take(row) for so many of the rows, every set of them as likely as any: Knuth, The Art of
// Computer Programming 2, section 3.4.2, algorithm S.
template <class Take>
void select_rows(std::span<const RowIndex> rows, std::size_t wanted, RandomStream& random,
                 const Take& take) {
  auto left = static_cast<std::uint32_t>(rows.size());
  for (std::size_t i = 0; wanted > 0; ++i, --left) {
    if (random.below(left) >= wanted) continue;
    take(rows[i]);
    --wanted;
  }
}

// Calls take(row) for so many rows, each drawn from all: the numbers are those of RandomStream::below().
template <class Take>
void draw_rows(std::span<const RowIndex> rows, std::size_t wanted, RandomStream& random,
               const Take& take) {
  const auto bound = static_cast<std::uint32_t>(rows.size());
  const std::uint32_t rejected = (0u - bound) % bound;
  std::array<std::uint32_t, 1024> numbers;
  while (wanted > 0) {
    fill_random_blocks(random, numbers);
    for (const std::uint32_t number : numbers) {
      const std::uint64_t product = std::uint64_t{number} * bound;
      if (static_cast<std::uint32_t>(product) < rejected) continue;
      take(rows[product >> 32]);
      if (--wanted == 0) break;
    }
  }
}

std::vector<RowIndex> rows_to_draw(const BagRows& rows) {
  std::vector<RowIndex> able;
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    if (rows.weights.empty() || rows.weights[i] > 0.0) able.push_back(static_cast<RowIndex>(i));
  }
  require(!able.empty(), "at least one row of positive weight is needed");
  return able;
}

std::vector<std::uint64_t> class_sizes(std::span<const RowIndex> rows,
                                       std::span<const std::uint32_t> labels) {
  std::vector<std::uint64_t> sizes;
  for (const RowIndex row : rows) {
    if (labels[row] >= sizes.size()) sizes.resize(labels[row] + std::size_t{1});
    ++sizes[labels[row]];
  }
  return sizes;
}

// The rows of each class that has any.
std::vector<std::vector<RowIndex>> by_class(std::span<const RowIndex> rows,
                                            std::span<const std::uint32_t> labels) {
  std::vector<std::vector<RowIndex>> groups(class_sizes(rows, labels).size());
  for (const RowIndex row : rows) groups[labels[row]].push_back(row);
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace

BagDraw::BagDraw(const Bag& bag, const BagRows& rows, std::uint64_t seed)
    : kind_(bag.kind), seed_(seed), n_rows_(rows.n_rows) {
  require(rows.weights.empty() || rows.weights.size() == n_rows_, "one weight a row is needed");
  groups_.push_back(rows_to_draw(rows));
  if (kind_ == BagKind::balanced_bootstrap) {
    require(rows.labels.size() == n_rows_, "balanced bags need one label a row");
    groups_ = by_class(groups_[0], rows.labels);
  }
  const auto smallest =
      std::min_element(groups_.begin(), groups_.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  n_of_group_ = smallest->size();
  if (bag.n_drawn < 0 || kind_ == BagKind::all) return;
  require(bag.n_drawn >= 1, "a bag needs at least one row");
  require(static_cast<std::uint64_t>(bag.n_drawn) <= n_rows_,
          "a bag cannot have more rows than the table");
  n_of_group_ = static_cast<std::size_t>(bag.n_drawn);
  // Of rows without weight there may be some: all others are drawn then.
  if (kind_ == BagKind::without_replacement) n_of_group_ = std::min(n_of_group_, groups_[0].size());
}

void BagDraw::counts(std::uint32_t tree, std::vector<std::uint32_t>& counts) const {
  counts.assign(n_rows_, 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) draw(groups_[g], tree, g, counts);
}

void BagDraw::draw(const std::vector<RowIndex>& group, std::uint32_t tree, std::uint64_t number,
                   std::vector<std::uint32_t>& counts) const {
  RandomStream random(seed_, Purpose::bag, tree, number);
  const auto take = [&](RowIndex row) { ++counts[row]; };
  switch (kind_) {
    case BagKind::all:
      std::for_each(group.begin(), group.end(), take);
      break;
    case BagKind::without_replacement:
      select_rows(group, n_of_group_, random, take);
      break;
    case BagKind::bootstrap:
    case BagKind::balanced_bootstrap:
      draw_rows(group, n_of_group_, random, take);
      break;
  }
}

// That a row is drawn 64 times as often as rows are on average happens to one bag in 10^89 at most.
int BagDraw::count_bits() const {
  if (kind_ != BagKind::bootstrap && kind_ != BagKind::balanced_bootstrap) return 0;
  std::uint64_t mean = 1;
  for (const auto& group : groups_) {
    mean = std::max<std::uint64_t>(mean, (n_of_group_ + group.size() - 1) / group.size());
  }
  return 6 + bit_length(mean - 1);
}

std::vector<RowIndex> BagDraw::rows() const {
  std::vector<RowIndex> all;
  for (const auto& group : groups_) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<FeatureIndex> draw_columns(const ColumnDraw& draw, FeatureIndex n_features,
                                       std::uint64_t seed, std::uint32_t tree) {
  std::vector<FeatureIndex> columns(static_cast<std::size_t>(n_features));
  std::iota(columns.begin(), columns.end(), 0);
  if (draw.n_columns < 0 && !draw.with_replacement && !draw.random_number) return columns;

  RandomStream random(seed, Purpose::bag_columns, tree, 0);
  const auto p = static_cast<std::uint32_t>(n_features);
  auto n = draw.n_columns < 0 ? p : static_cast<std::uint32_t>(draw.n_columns);
  require(n >= 1 && (n <= p || draw.with_replacement),
          "a tree needs at least one column, and cannot have more than there are");
  if (draw.random_number) n = 1 + random.below(n);
  if (draw.with_replacement) {
    std::vector<FeatureIndex> drawn(n);
    for (auto& column : drawn) column = static_cast<FeatureIndex>(random.below(p));
    columns = std::move(drawn);
  } else {
    for (std::uint32_t i = 0; i < n; ++i) std::swap(columns[i], columns[i + random.below(p - i)]);
    columns.resize(n);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

// Of m rows that exchange their labels by a random permutation, each keeps its own place with
// probability 1/m, and another row of the n has another class with probability
// n/(n - 1) (1 - sum P^2). So (m - 1) n/(n - 1) (1 - sum P^2) labels become others on average; this
// is to be p n.
LabelSwitch::LabelSwitch(const Switching& switching, std::span<const RowIndex> rows,
                         std::span<const std::uint32_t> labels, std::uint64_t seed)
    : seed_(seed), rows_(rows), labels_(labels) {
  const double share = switching.share;
  if (share == 0.0) return;
  const auto n = static_cast<double>(rows.size());
  const auto sizes = class_sizes(rows, labels);
  if (switching.scheme == SwitchScheme::uniform) {
    require(share > 0.0 && share < 1.0, "the share of labels to switch is not between 0 and 1");
    place_.resize(sizes.size());
    for (std::uint32_t k = 0; k < sizes.size(); ++k) {
      place_[k] = static_cast<std::uint32_t>(classes_.size());
      if (sizes[k] > 0) classes_.push_back(k);
    }
    require(classes_.size() > 1, "one class has no other that its labels could become");
    n_taking_part_ = static_cast<std::size_t>(std::llround(share * n));
    return;
  }
  double differing = 1.0;
  for (const auto size : sizes) {
    const double part = static_cast<double>(size) / n;
    differing -= part * part;
  }
  constexpr double kRounding = 1e-9;
  require(share > 0.0 && share <= differing + kRounding,
          "so many labels cannot be switched without changing the proportions of the classes");
  const double taking_part = 1.0 + share * (n - 1.0) / differing;
  n_taking_part_ = std::min(rows.size(), static_cast<std::size_t>(std::llround(taking_part)));
}

void LabelSwitch::labels(std::uint32_t tree, std::vector<std::uint32_t>& labels) const {
  labels.assign(labels_.begin(), labels_.end());
  RandomStream random(seed_, Purpose::label_switch, tree, 0);
  std::vector<RowIndex> some;
  some.reserve(n_taking_part_);
  select_rows(rows_, n_taking_part_, random, [&](RowIndex row) { some.push_back(row); });
  if (!classes_.empty()) {
    const auto n_classes = static_cast<std::uint32_t>(classes_.size());
    for (const RowIndex row : some) {
      const std::uint32_t step = 1 + random.below(n_classes - 1);
      labels[row] = classes_[(place_[labels[row]] + step) % n_classes];
    }
    return;
  }
  for (std::size_t i = some.size(); i > 1; --i) {
    std::swap(labels[some[i - 1]], labels[some[random.below(static_cast<std::uint32_t>(i))]]);
  }
}

}  // namespace arboleda
