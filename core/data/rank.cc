#include "data/rank.h"

#include <algorithm>
#include <array>
#include <utility>

#include "data/pair_sorter.h"

namespace arboleda {

namespace {

constexpr std::size_t kHashSlots = 4 * kFewValues;

// Unsigned integers in the order of the reals they come from; NaN (made positive) comes last.
std::uint64_t ordered_bits(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return (bits >> 63) ? ~bits : bits | (std::uint64_t{1} << 63);
}

std::uint32_t ordered_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return (bits >> 31) ? ~bits : bits | (std::uint32_t{1} << 31);
}

std::uint64_t pack(std::uint32_t upper, std::size_t row) {
  return std::uint64_t{upper} << 32 | row;
}

bool all_fit_float(const ColumnValues& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isnan(x[i]) && static_cast<double>(static_cast<float>(x[i])) != x[i]) return false;
  }
  return true;
}

// Calls visit(run, upper half) for the rows that agree in the upper half, in ascending order.
template <class Visit>
void for_each_run(std::span<std::uint64_t> keys, const Visit& visit) {
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    const auto upper = static_cast<std::uint32_t>(keys[begin] >> 32);
    while (end < keys.size() && keys[end] >> 32 == upper) ++end;
    visit(keys.subspan(begin, end - begin), upper);
  }
}

// The next rank to rows of equal values; missing ones come last.
void give_rank(Ranking& ranking, std::span<RankedRow> equal, bool missing) {
  for (auto& r : equal) r = pack(ranking.n_distinct, row_of(r));
  if (missing) {
    ranking.n_missing += equal.size();
  } else {
    ++ranking.n_distinct;
  }
}

void rank_floats(const ColumnValues& x, Ranking& ranking, PairSorter& sorter) {
  const auto missing = ordered_bits(std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < x.size(); ++i) {
    ranking.rows[i] = pack(ordered_bits(static_cast<float>(x[i])), i);
  }
  sorter.sort(ranking.rows);
  for_each_run(ranking.rows, [&](std::span<RankedRow> run, std::uint32_t bits) {
    give_rank(ranking, run, bits == missing);
  });
}

// By the upper half of the bits, then, among rows that agree in it, by the lower half.
void rank_doubles(const ColumnValues& x, Ranking& ranking, PairSorter& sorter) {
  const auto upper_half = [](double value) {
    return static_cast<std::uint32_t>(ordered_bits(value) >> 32);
  };
  const auto missing = upper_half(std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < x.size(); ++i) ranking.rows[i] = pack(upper_half(x[i]), i);
  sorter.sort(ranking.rows);
  for_each_run(ranking.rows, [&](std::span<RankedRow> run, std::uint32_t upper) {
    if (run.size() == 1 || upper == missing) return give_rank(ranking, run, upper == missing);
    for (auto& r : run) {
      r = pack(static_cast<std::uint32_t>(ordered_bits(x[row_of(r)])), row_of(r));
    }
    sorter.sort(run);
    for_each_run(
        run, [&](std::span<RankedRow> equal, std::uint32_t) { give_rank(ranking, equal, false); });
  });
}

}  // namespace

Ranking rank_by_sort(const ColumnValues& x) {
  Ranking ranking;
  ranking.rows.resize(x.size());
  PairSorter sorter;
  if (all_fit_float(x)) {
    rank_floats(x, ranking, sorter);
  } else {
    rank_doubles(x, ranking, sorter);
  }
  return ranking;
}

FewValues rank_few(const ColumnValues& x) {
  constexpr std::uint16_t kNone = UINT16_MAX;
  std::array<std::uint16_t, kHashSlots> slots;
  slots.fill(kNone);
  FewValues few;
  std::vector<double> seen;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = x[i];
    if (std::isnan(value)) {
      few.has_missing = true;
      few.rank.push_back(kNone);
      continue;
    }
    const auto bits = std::bit_cast<std::uint64_t>(value);
    std::size_t slot = (bits * 0x9E3779B97F4A7C15ULL) >> (64 - std::countr_zero(kHashSlots));
    while (slots[slot] != kNone && seen[slots[slot]] != value) slot = (slot + 1) % kHashSlots;
    if (slots[slot] == kNone) {
      if (seen.size() == kFewValues) return few;
      slots[slot] = static_cast<std::uint16_t>(seen.size());
      seen.push_back(value);
    }
    few.rank.push_back(slots[slot]);
  }
  few.values = seen;
  std::sort(few.values.begin(), few.values.end());
  std::vector<std::uint16_t> rank(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    rank[i] = static_cast<std::uint16_t>(
        std::lower_bound(few.values.begin(), few.values.end(), seen[i]) - few.values.begin());
  }
  const auto missing = static_cast<std::uint16_t>(seen.size());
  for (auto& r : few.rank) r = r == kNone ? missing : rank[r];
  few.found = true;
  return few;
}

}  // namespace arboleda
