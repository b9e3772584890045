// What growing a tree over the shards of a table needs of a criterion: the cells of rows as words that
// shards add up, the statistic of a node that follows from them, and the search for its best split.
// One thread's; criterion_cells.h makes one for every criterion whose statistic is a sum.
//
//   clear(n), load(rows), add(codes, cell) ..., write(words)    own rows to words, block by block
//   see_range(), spread()                                       what else decides, of the rows loaded last
//   summarize(), within()                                       what is recorded of a node
//   begin(), then search() feature by feature                   from the words of all shards
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "criterion/shared_node.h"
#include "split/split.h"

namespace arboleda {

// The statistic of a node whose rows are in several shards.
struct SharedNode {
  std::vector<std::uint64_t> total;  // the words of its cell
  TargetRange range;                 // of its targets, and
  Int128 spread = 0;                 // a sum over them, where the criterion has these
  std::uint64_t n_rows = 0;
  double impurity = 0.0, weight = 0.0;  // in the units of the criterion
  std::vector<double> value;
  bool is_pure = false;
};

class SharedCriterion {
 public:
  virtual ~SharedCriterion() = default;

  virtual std::size_t n_words() const = 0;  // of a cell; the last one is the number of rows
  virtual bool has_range() const = 0;       // whether range and spread of a node decide

  virtual void clear(std::size_t n_cells) = 0;
  // rows: of this shard. They must stay as they are until the next ones are loaded.
  virtual void load(std::span<const RowIndex> rows) = 0;
  // Adds the i-th of these rows to the cell first + codes[i], or all of them to one cell.
  virtual void add(std::span<const Code> codes, std::size_t first) = 0;
  virtual void add_all(std::size_t cell) = 0;
  virtual void write(std::uint64_t* words) const = 0;  // of all cells

  virtual void see_range(TargetRange& range) const = 0;
  virtual Int128 spread(const SharedNode& node) const = 0;

  // Sets what follows from total, range and spread.
  virtual void summarize(SharedNode& node) const = 0;
  // For monotone predictions: the one whose order is constrained, and the prediction drawn to the bounds.
  virtual double ordered_value(const SharedNode& node) const = 0;
  virtual void within(const Bounds& bounds, std::span<double> value) const = 0;

  // The node is searched from now on.
  virtual void begin(const SharedNode& node, const Bounds& bounds) = 0;
  // words: of the cells of all codes. Improves `best`; false where all rows have one code.
  virtual bool search(FeatureIndex feature, const std::uint64_t* words, Split& best) = 0;
};

}  // namespace arboleda
