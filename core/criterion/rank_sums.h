// Sums of weight and of weight x target over the ranks below any rank: a row is added, and the
// weighted median found, in O(log n). Fenwick (1994), "A new data structure for cumulative frequency
// tables", Software: Practice and Experience 24(3).
//
// Node i (from 1) holds the sums over the ranks i - lowbit(i) .. i - 1:
//
//   rank     0  1  2  3  4  5  6  7
//   node 8   -----------------------
//   node 4   -----------
//   node 2   -----       node 6 -----
//   nodes    1     3     5     7
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace arboleda {

template <class Sum>
struct WeightAndSum {
  Sum sum = 0;              // of weight x target
  std::int64_t weight = 0;  // of weight

  WeightAndSum& operator+=(const WeightAndSum& other) {
    sum += other.sum;
    weight += other.weight;
    return *this;
  }
  friend WeightAndSum operator-(const WeightAndSum& a, const WeightAndSum& b) {
    return {a.sum - b.sum, a.weight - b.weight};
  }
};

template <class Sum>
class RankSums {
 public:
  using Entry = WeightAndSum<Sum>;

  // No row yet, and room for n_ranks ranks.
  void reset(std::size_t n_ranks) { nodes_.assign(n_ranks + 1, Entry{}); }

  // The same as reset() and an add() for every rank, in O(n).
  void build(const std::vector<Entry>& of_rank) {
    reset(of_rank.size());
    for (std::size_t i = 1; i < nodes_.size(); ++i) {
      nodes_[i] += of_rank[i - 1];
      const std::size_t parent = i + (i & (~i + 1));
      if (parent < nodes_.size()) nodes_[parent] += nodes_[i];
    }
  }

  // n_ranks: at most that of reset(); higher ranks are never added.
  void add(std::size_t rank, const Entry& entry, std::size_t n_ranks) {
    for (std::size_t i = rank + 1; i <= n_ranks; i += i & (~i + 1)) nodes_[i] += entry;
  }

  const Entry& node(std::size_t i) const { return nodes_[i]; }

 private:
  std::vector<Entry> nodes_;
};

// Where the weighted median is: the lowest rank that with all below it has half the weight or more.
template <class Sum>
struct MedianPlace {
  std::size_t rank;
  WeightAndSum<Sum> below;  // of all lower ranks
};

// node(i): node i of a tree over n_ranks ranks; the weights sum to `weight` > 0.
template <class Sum, class Node>
MedianPlace<Sum> find_median(std::size_t n_ranks, std::int64_t weight, const Node& node) {
  MedianPlace<Sum> place{0, {}};
  for (std::size_t step = std::bit_floor(n_ranks); step > 0; step /= 2) {
    const std::size_t next = place.rank + step;
    if (next > n_ranks) continue;
    const WeightAndSum<Sum> part = node(next);
    if (2 * (place.below.weight + part.weight) >= weight) continue;
    place.rank = next;
    place.below += part;
  }
  return place;
}

}  // namespace arboleda
