// Rows drawn without replacement, every set of them as likely as any: those with the smallest random words,
// of equal words the lower rows.
//
// Rows lie in places, one after the other: the shares of threads, or the parts of a table. Places count
// their rows by the first digit of the words; the sum of the counts tells the digit of the last row drawn
// (base/key_search.h). Each takes its rows up to that digit, and the few of the digit itself are decided upon
// by a search among their words. So no row waits for another, and the draw is a function of the numbers of
// the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/random.h"
#include "base/shards.h"
#include "base/types.h"

namespace arboleda {

struct PlaceRows {
  std::span<const RowIndex> rows;  // ascending
  std::uint64_t offset = 0;        // row r of the place is row offset + r of the table
};

using DrawnRows = UnfilledVector<RowIndex>;

// drawn: for each place those of its rows that are among the `wanted` of all, ascending. wanted: at most
// the rows of all places of all shards.
void draw_smallest(std::span<const PlaceRows> places, std::size_t wanted, const RowWords& words,
                   int n_threads, const Shards* shards, std::span<DrawnRows> drawn);

}  // namespace arboleda
