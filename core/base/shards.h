// The shards of a table: parts of consecutive rows, one a process. Each runs the same fit on its own rows.
// Wherever a decision depends on all rows, the shards first add up whole numbers or take maxima, which are
// the same in any order: so all decide alike, and as one fit of the whole table does.
//
// All functions here are called by all shards, in the same order and with as many values: never from tasks
// that other threads may run, nor where a branch depends on the own rows alone. A shard may have no rows.
// Where there is but one shard, null stands for it, and they do nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/exact_sum.h"

namespace arboleda {

class Shards {
 public:
  // first_row: row r of this shard is row first_row + r of the table.
  Shards(std::size_t number, std::size_t count, std::uint64_t first_row)
      : number_(number), count_(count), first_row_(first_row) {}
  virtual ~Shards() = default;

  std::size_t number() const { return number_; }  // of this one, from 0, in the order of rows
  std::size_t count() const { return count_; }
  std::uint64_t first_row() const { return first_row_; }

  // Replaces each value by its sum over all shards, modulo 2^64, or by the largest. Throws
  // Error(shard_lost) where another shard has failed.
  virtual void add(std::span<std::uint64_t> values) const = 0;
  virtual void maximum(std::span<std::uint64_t> values) const = 0;

  // Reports what the next message of a growing tree has: opened nodes, histograms of their children, and
  // codes whose rows are counted. The trees do not have these numbers, as some nodes are opened in vain.
  virtual void count_opened(std::size_t, std::size_t, std::size_t) const {}

  // The few values of every shard, in the order of shards.
  std::vector<std::uint64_t> gather(std::span<const std::uint64_t> own) const;

 private:
  std::size_t number_, count_;
  std::uint64_t first_row_;
};

// Row 0 of this shard in the table.
inline std::uint64_t first_row(const Shards* shards) {
  return shards == nullptr ? 0 : shards->first_row();
}

// Sums over all shards, in place.
inline void add_all(const Shards* shards, std::span<std::uint64_t> values) {
  if (shards != nullptr) shards->add(values);
}
void add_all(const Shards* shards, std::span<ExactSum> sums);

// A number of 128 bits as words that up to 2^21 shards can add up without a carry being lost.
inline constexpr std::size_t kLimbs = 3;
void write_limbs(Int128 number, std::uint64_t* limbs);
Int128 read_limbs(const std::uint64_t* limbs);

// The sum of one number.
std::uint64_t sum_of_all(const Shards* shards, std::uint64_t own);
inline bool is_any(const Shards* shards, bool own) { return sum_of_all(shards, own ? 1 : 0) > 0; }

// The values of all shards, in the order of shards; each may have any number of them.
std::vector<std::uint64_t> join_all(const Shards* shards, std::vector<std::uint64_t> own);

// The smallest and the largest number of all shards, in place; infinity and its negative where there is none.
void see_range(const Shards* shards, double& low, double& high);

// The largest of all shards, in place.
void see_all(const Shards* shards, std::span<Magnitude> largest);

// The sum of all x of all shards (base/exact_sum.h).
double exact_sum(const Shards* shards, std::span<const double> x);

}  // namespace arboleda
