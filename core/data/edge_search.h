// Edges of bins from a few sweeps over a long column, which is neither sorted nor copied.
//
// A sweep counts the rows of the 2^16 buckets of values that agree in the upper 16 bits of their keys.
// The next one divides the buckets in which a bin may begin or end by some further bits, and the last one
// takes down the values themselves in the parts where a bin begins or ends:
//
//   buckets   |     |           |  |     |   rows of each
//   parts     |     || | | | | ||  |     |   of those where a bin may begin
//   runs      |     || | |:|:| ||  |     |   values with their numbers of rows
//
// The Binner is replayed on what is known. Where it meets rows of which it knows the number only, it
// goes on as if their values were distinct, and notes what the next sweep has to find out. It gives
// each value a bin of its own once as many are left as bins; the last max_bins + 1 parts or runs are
// always taken down, as these are the only ones that this rule may concern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/binned_dataset.h"

namespace arboleda {

// Of one column, whose keys (base/ordered_key.h) are 32 or 64 bits wide.
template <class Key>
class EdgeSearch {
 public:
  // n_rows: to learn from.
  EdgeSearch(std::size_t n_rows, std::size_t max_bins);

  // The keys of some rows; in each sweep those of all.
  void take(std::span<const Key> keys);

  // To be called after each sweep.
  void end_sweep();

  // Whether another sweep is needed.
  bool goes_on() const { return stage_ < Stage::found; }

  // Gives the column its n_values, values and upper. False if it has to be sorted after all: too many
  // rows are in the parts where bins begin, or all values occur several times.
  bool write(CodedColumn& column);

 private:
  enum class Stage : std::uint8_t {
    buckets,
    parts,
    runs,
    found,
    failed
  };  // what a sweep looks for
  enum class State : std::uint8_t { unknown, wanted, done };  // runs of a part
  struct Run {
    Key key;
    std::uint64_t n_rows;
  };
  enum class Known : std::uint8_t { bucket, part, run };
  struct Item {
    std::uint64_t end;    // rows of it and of all before
    Key key;              // of a run
    std::uint32_t where;  // bucket or part
    Known known;
    bool is_needed;
  };
  using Items = std::vector<Item>;
  explicit EdgeSearch(Stage stage) : max_bins_(0), margin_(0), most_values_(0), stage_(stage) {}
  void fail();
  static std::size_t part_of(Key key);
  Items list_items() const;
  std::vector<std::size_t> replay(Items& items);
  void need(Items& items, std::size_t item, std::uint64_t row);
  bool divide_buckets(const Items& items);
  void take_down_parts(const Items& items);
  void gather_runs();
  void keep_edges(const Items& items, const std::vector<std::size_t>& starts);

  std::size_t max_bins_, margin_, most_values_;
  Stage stage_ = Stage::buckets;
  int n_sweeps_ = 0;
  bool is_complete_ = true;             // whether nothing more is needed
  std::vector<std::uint32_t> count_;    // rows of each bucket
  std::vector<std::uint16_t> divided_;  // number of each bucket among those divided, from 1; or 0
  std::size_t n_divided_ = 0;
  // Of the parts of each divided bucket; those of number 0 mean nothing.
  std::vector<std::uint32_t> part_rows_;
  std::vector<State> state_;
  std::vector<std::uint32_t> first_at_;
  std::vector<Run> first_;  // of each wanted part the value that came first
  std::vector<Key> others_;
  std::vector<Run> runs_;  // ascending
  std::vector<double> values_, upper_;
};

extern template class EdgeSearch<std::int32_t>;
extern template class EdgeSearch<std::int64_t>;

}  // namespace arboleda
