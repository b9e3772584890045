#include "data/edge_search.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/ordered_key.h"
#include "data/radix_sort.h"

namespace arboleda {

namespace {

constexpr int kBucketBits = 16;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

// Of a bucket. Those of 64-bit keys are wider.
template <class Key>
constexpr int kPartBits = sizeof(Key) == 4 ? 6 : 8;
template <class Key>
constexpr std::size_t kParts = std::size_t{1} << kPartBits<Key>;

// Buckets that are divided, at most.
constexpr std::size_t kMostDivided = 2048;

// Sweeps, at most; most columns need three.
constexpr int kMostSweeps = 8;

}  // namespace

template <class Key>
EdgeSearch<Key>::EdgeSearch(std::size_t n_rows, std::size_t max_bins)
    : max_bins_(max_bins),
      margin_(n_rows >> 14),
      most_values_(n_rows / 4),
      count_(kBuckets),
      divided_(kBuckets) {}

// The upper bits, in the order of keys: bucket and part.
template <class Key>
std::size_t EdgeSearch<Key>::part_of(Key key) {
  constexpr int kShift = 8 * sizeof(Key) - kBucketBits - kPartBits<Key>;
  return static_cast<std::size_t>(word_of_key(key) >> kShift);
}

template <class Key>
void EdgeSearch<Key>::take(std::span<const Key> keys) {
  if (stage_ == Stage::buckets) {
    for (const Key key : keys) ++count_[part_of(key) >> kPartBits<Key>];
    return;
  }
  const auto place_of = [&](Key key) {
    const std::size_t part = part_of(key);
    return std::size_t{divided_[part >> kPartBits<Key>]} << kPartBits<Key> | part % kParts<Key>;
  };
  if (stage_ == Stage::parts) {
    for (const Key key : keys) ++part_rows_[place_of(key)];
    return;
  }
  for (const Key key : keys) {
    const std::size_t place = place_of(key);
    if (state_[place] != State::wanted) continue;
    Run& first = first_[first_at_[place]];
    if (first.n_rows == 0) first.key = key;
    if (first.key == key) {
      ++first.n_rows;
    } else if (others_.size() < most_values_) {
      others_.push_back(key);
    } else {
      fail();
      return;
    }
  }
}

// Gives its memory back: other columns are still searched.
template <class Key>
void EdgeSearch<Key>::fail() {
  *this = EdgeSearch(Stage::failed);
}

template <class Key>
void EdgeSearch<Key>::end_sweep() {
  if (stage_ == Stage::failed) return;
  if (stage_ == Stage::runs) gather_runs();
  Items items = list_items();
  is_complete_ = true;
  const std::vector<std::size_t> starts = replay(items);
  if (is_complete_) {
    keep_edges(items, starts);
  } else if (++n_sweeps_ == kMostSweeps) {
    fail();
  } else if (!divide_buckets(items)) {
    take_down_parts(items);
  }
}

// What is known, in the order of values.
template <class Key>
auto EdgeSearch<Key>::list_items() const -> Items {
  Items items;
  items.reserve(kBuckets + part_rows_.size() + runs_.size());
  std::uint64_t end = 0;
  std::size_t run = 0;
  const std::size_t missing = part_of(kMissingKey<Key>) >> kPartBits<Key>;
  for (std::size_t bucket = 0; bucket < missing; ++bucket) {
    if (count_[bucket] == 0) continue;
    if (divided_[bucket] == 0) {
      end += count_[bucket];
      items.push_back({end, 0, static_cast<std::uint32_t>(bucket), Known::bucket, false});
      continue;
    }
    for (std::size_t k = 0; k < kParts<Key>; ++k) {
      const std::size_t part = std::size_t{divided_[bucket]} << kPartBits<Key> | k;
      if (part_rows_[part] == 0) continue;
      if (state_[part] != State::done) {
        end += part_rows_[part];
        items.push_back({end, 0, static_cast<std::uint32_t>(part), Known::part, false});
        continue;
      }
      const std::size_t upper = bucket << kPartBits<Key> | k;
      for (; run < runs_.size() && part_of(runs_[run].key) == upper; ++run) {
        end += runs_[run].n_rows;
        items.push_back({end, runs_[run].key, 0, Known::run, false});
      }
    }
  }
  return items;
}

// The items that begin a bin. Those whose values must be known first are needed.
template <class Key>
std::vector<std::size_t> EdgeSearch<Key>::replay(Items& items) {
  const std::size_t n = items.size();
  std::vector<std::size_t> starts(std::min(n, max_bins_));
  // The last values: a bucket is taken for as many of them as it may well have.
  for (std::size_t k = n, n_last = 0; k > 0 && n_last <= max_bins_; --k) {
    const std::uint64_t n_rows = items[k - 1].end - (k > 1 ? items[k - 2].end : 0);
    const bool is_bucket = items[k - 1].known == Known::bucket && n > max_bins_;
    n_last += is_bucket ? std::clamp<std::uint64_t>(n_rows / 8, 1, kParts<Key> / 4) : 1;
    need(items, k - 1, items[k - 1].end);
  }
  if (n <= max_bins_) {
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    return starts;
  }
  starts.clear();
  need(items, 0, 0);
  std::uint64_t position = 0;  // rows before the bin
  std::size_t item = 0;        // with which it begins
  for (std::size_t left = max_bins_;; --left) {
    starts.push_back(item);
    if (left == 1) return starts;
    const std::uint64_t share = (items.back().end - position) / left;
    const auto full = std::partition_point(
        items.begin(), items.end(), [&](const Item& each) { return each.end < position + share; });
    const std::size_t last = std::max(item, static_cast<std::size_t>(full - items.begin()));
    need(items, last, position + share);
    if (items[last].known != Known::run) {
      position += share;
      item = last;
      continue;
    }
    const std::uint64_t begin = last > 0 ? items[last - 1].end : 0;
    const bool is_alone = last > item && items[last].end - begin >= share;
    item = std::min(is_alone ? last : last + 1, std::max(item + 1, n - (left - 1)));
    if (item == n) return starts;
    position = items[item - 1].end;
    need(items, item - 1, position);
    need(items, item, position);
  }
}

// An item, and those within some rows of one: a bin may begin a little later than it seems.
template <class Key>
void EdgeSearch<Key>::need(Items& items, std::size_t item, std::uint64_t row) {
  if (items[item].known == Known::run) return;
  is_complete_ = false;
  items[item].is_needed = true;
  const auto near = std::partition_point(
      items.begin(), items.end(), [&](const Item& each) { return each.end + margin_ <= row; });
  for (auto each = near; each != items.end(); ++each) {
    each->is_needed = true;
    if (each->end >= row + margin_) break;
  }
}

// Those that are needed; false if there is none.
template <class Key>
bool EdgeSearch<Key>::divide_buckets(const Items& items) {
  const std::size_t n_before = n_divided_;
  for (const Item& item : items) {
    if (!item.is_needed || item.known != Known::bucket) continue;
    divided_[item.where] = static_cast<std::uint16_t>(++n_divided_);
  }
  if (n_divided_ == n_before) return false;
  if (n_divided_ > kMostDivided) {
    fail();
    return true;
  }
  part_rows_.assign((n_divided_ + 1) << kPartBits<Key>, 0);
  first_at_.resize(part_rows_.size());
  state_.resize(part_rows_.size());
  stage_ = Stage::parts;
  return true;
}

template <class Key>
void EdgeSearch<Key>::take_down_parts(const Items& items) {
  for (const Item& item : items) {
    if (!item.is_needed || item.known != Known::part) continue;
    first_at_[item.where] = static_cast<std::uint32_t>(first_.size());
    first_.push_back({0, 0});
    state_[item.where] = State::wanted;
  }
  stage_ = Stage::runs;
}

// Of the values that were taken down.
template <class Key>
void EdgeSearch<Key>::gather_runs() {
  std::replace(state_.begin(), state_.end(), State::wanted, State::done);
  std::vector<Key> spare;
  radix_sort(others_, spare);
  std::vector<Run> found;
  found.reserve(others_.size());
  for (const Key key : others_) {
    if (found.empty() || found.back().key != key) found.push_back({key, 0});
    ++found.back().n_rows;
  }
  others_ = {};
  const auto merge_in = [&](const std::vector<Run>& more) {
    std::vector<Run> merged;
    merged.reserve(runs_.size() + more.size());
    std::merge(runs_.begin(), runs_.end(), more.begin(), more.end(), std::back_inserter(merged),
               [](const Run& a, const Run& b) { return a.key < b.key; });
    runs_ = std::move(merged);
  };
  merge_in(found);
  merge_in(first_);
  first_.clear();
}

template <class Key>
void EdgeSearch<Key>::keep_edges(const Items& items, const std::vector<std::size_t>& starts) {
  const bool is_binned = items.size() > max_bins_;
  std::uint64_t divisor = 0;
  for (const Run& run : runs_) {
    if (divisor != 1) divisor = std::gcd(divisor, run.n_rows);
  }
  if (is_binned && divisor != 1) return fail();
  stage_ = Stage::found;
  for (std::size_t bin = 0; bin < starts.size(); ++bin) {
    const std::size_t end = bin + 1 < starts.size() ? starts[bin + 1] : items.size();
    values_.push_back(value_of_key(items[starts[bin]].key));
    if (is_binned) upper_.push_back(value_of_key(items[end - 1].key));
  }
  runs_ = {};
  count_ = part_rows_ = first_at_ = {};
}

template <class Key>
bool EdgeSearch<Key>::write(CodedColumn& column) {
  if (stage_ != Stage::found) return false;
  column.values = std::move(values_);
  column.upper = std::move(upper_);
  column.n_values = column.values.size();
  return true;
}

template class EdgeSearch<std::int32_t>;
template class EdgeSearch<std::int64_t>;

}  // namespace arboleda
