// What the growers of isolation trees share: the rows that a tree is grown from, and the columns that vary in
// a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "learn/isolation.h"

namespace arboleda {

// The drawn rows of one tree, each once: their values in the drawn columns, column after column.
class IsolationSample {
 public:
  IsolationSample(const IsolationRows& rows, const IsolationOptions& options, std::uint64_t seed,
                  std::uint32_t tree);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_columns() const { return columns_.size(); }
  FeatureIndex feature(std::size_t column) const { return columns_[column]; }
  double at(std::uint32_t row, std::size_t column) const { return cell_[column * n_rows_ + row]; }

 private:
  std::vector<FeatureIndex> columns_;
  std::size_t n_rows_ = 0;
  std::vector<double> cell_;
};

// A column that varies in a node, and its smallest and largest value there.
struct VaryingColumn {
  std::size_t column;
  double lowest, highest;
};

// Draws columns that vary in a node, without replacement. A column that is constant in a node is so in its
// children: the columns are in an array, and those of a node are its first ones.
class VaryingColumns {
 public:
  explicit VaryingColumns(const IsolationSample& sample)
      : sample_(sample), columns_(sample.n_columns()) {
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
  }

  // At most `wanted` columns. n_left: how many may vary; lowered by those found to be constant.
  std::vector<VaryingColumn> draw(std::span<const std::uint32_t> rows, std::size_t wanted,
                                  std::size_t& n_left, QuickStream& random);

 private:
  VaryingColumn find_range(std::span<const std::uint32_t> rows, std::size_t column) const;

  const IsolationSample& sample_;
  std::vector<std::size_t> columns_;
};

// Uniform on [lowest, highest), where lowest < highest.
double draw_between(double lowest, double highest, QuickStream& random);

// grow(i, sample of the i-th tree, root of its random numbers, greatest depth) for every tree.
using GrowIsolationTree =
    std::function<void(std::size_t, const IsolationSample&, std::uint64_t, int)>;
void grow_isolation_trees(const IsolationRows& rows, const IsolationOptions& options,
                          const Context& context, const GrowIsolationTree& grow);

}  // namespace arboleda
