// Sets of columns, shared by the nodes that wait to be split: which columns vary in a node. A set
// that is shared is copied before it changes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.h"

namespace arboleda {

class ColumnSets {
 public:
  using Id = std::uint32_t;

  explicit ColumnSets(std::size_t n_columns) : n_words_((n_columns + 63) / 64) {}

  Id make(const std::vector<FeatureIndex>& columns) {
    const Id id = take();
    for (const FeatureIndex column : columns) {
      const auto j = static_cast<std::size_t>(column);
      word(id, j) |= bit(j);
    }
    return id;
  }

  Id copy_of(const ColumnSets& other, Id of_other) {
    const Id id = take();
    for (std::size_t w = 0; w < n_words_; ++w) {
      words_[id * n_words_ + w] = other.words_[of_other * n_words_ + w];
    }
    return id;
  }

  Id share(Id id) {
    ++n_users_[id];
    return id;
  }

  void release(Id id) {
    if (--n_users_[id] == 0) free_.push_back(id);
  }

  bool has(Id id, FeatureIndex column) const {
    const auto j = static_cast<std::size_t>(column);
    return (words_[id * n_words_ + j / 64] & bit(j)) != 0;
  }

  // The caller's set without the column: another one where others share it.
  Id without(Id id, FeatureIndex column) {
    if (n_users_[id] > 1) {
      const Id own = copy_of(*this, id);
      release(id);
      id = own;
    }
    word(id, static_cast<std::size_t>(column)) &= ~bit(static_cast<std::size_t>(column));
    return id;
  }

  // The columns in ascending order.
  void list(Id id, std::vector<FeatureIndex>& columns) const {
    columns.clear();
    for (std::size_t w = 0; w < n_words_; ++w) {
      for (std::uint64_t rest = words_[id * n_words_ + w]; rest != 0; rest &= rest - 1) {
        columns.push_back(static_cast<FeatureIndex>(w * 64) + std::countr_zero(rest));
      }
    }
  }

 private:
  static std::uint64_t bit(std::size_t column) { return std::uint64_t{1} << column % 64; }
  std::uint64_t& word(Id id, std::size_t column) { return words_[id * n_words_ + column / 64]; }

  // An empty set of one user.
  Id take() {
    if (free_.empty()) {
      words_.resize(words_.size() + n_words_);
      n_users_.push_back(1);
      return static_cast<Id>(n_users_.size() - 1);
    }
    const Id id = free_.back();
    free_.pop_back();
    n_users_[id] = 1;
    for (std::size_t w = 0; w < n_words_; ++w) words_[id * n_words_ + w] = 0;
    return id;
  }

  std::size_t n_words_;
  std::vector<std::uint64_t> words_;  // n_words_ a set
  std::vector<std::uint32_t> n_users_;
  std::vector<Id> free_;
};

}  // namespace arboleda
