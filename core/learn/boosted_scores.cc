#include "learn/boosted_scores.h"

#include <algorithm>
#include <array>

#include "base/compiler.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "grow/code_tree.h"

namespace arboleda {

namespace {

// Rows of one task.
constexpr std::size_t kScoreBlockRows = std::size_t{1} << 13;

// Rows of a linear leaf that are looked at together.
constexpr std::size_t kLeafBlockRows = 256;

// Rows from now whose scores are fetched.
constexpr std::size_t kAhead = 64;

// Linear leaves with the columns of a table.
class LinearLeafValues {
 public:
  LinearLeafValues(const LinearLeaves& leaves, const BinnedDataset& table) : leaves_(leaves) {
    for (const FeatureIndex feature : leaves.feature) {
      columns_.push_back(table.columns[static_cast<std::size_t>(feature)].source);
      require(columns_.back().data != nullptr || table.n_rows == 0,
              "linear leaves need the values of the columns: give a dense table");
    }
  }

  double of(std::size_t node, double value, RowIndex row) const {
    return leaves_.value_at(node, value, [&](std::size_t term) { return columns_[term][row]; });
  }

  // Adds those of one node: what of() has for each row, a term at a time.
  void add(std::size_t node, double value, std::span<const RowIndex> rows,
           std::span<double> scores) const {
    std::array<double, kLeafBlockRows> room;
    for (std::size_t begin = 0; begin < rows.size(); begin += kLeafBlockRows) {
      const auto block = rows.subspan(begin, std::min(kLeafBlockRows, rows.size() - begin));
      const auto values = std::span(room).first(block.size());
      std::fill(values.begin(), values.end(), leaves_.intercept[node]);
      for (std::size_t e = leaves_.first_term(node); e < leaves_.first_term(node + 1); ++e) {
        add_term(e, block, values);
      }
      for (std::size_t i = 0; i < block.size(); ++i) {
        const bool is_missing = values[i] != values[i];  // sums of terms are finite
        scores[block[i]] += is_missing ? value : values[i];
      }
    }
  }

 private:
  void add_term(std::size_t term, std::span<const RowIndex> rows, std::span<double> sums) const {
    const double coefficient = leaves_.coefficient[term];
    const double low = leaves_.low[term], high = leaves_.high[term];
    const ColumnView column = columns_[term];
    column.with_type([&]<class T>(T) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double x = static_cast<double>(column.as<T>(rows[i]));
        sums[i] += coefficient * ((x < low ? low : x > high ? high : x) - low);
      }
    });
  }

  const LinearLeaves& leaves_;
  std::vector<ColumnView> columns_;  // one a term
};

}  // namespace

BoostedScores::BoostedScores(const BinnedDataset& table, std::span<const double> start,
                             std::span<const double> offset)
    : table_(&table) {
  reserve_large(scores_, table.n_rows * start.size());
  scores_.resize(table.n_rows * start.size());
  require(offset.empty() || offset.size() == scores_.size(), "one offset a score is needed");
  std::copy(offset.begin(), offset.end(), scores_.begin());
  for (std::size_t k = 0; k < start.size(); ++k) {
    for (double& score : of(k)) score += start[k];
  }
}

void BoostedScores::add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
                        const LeafRows& leaves, const Context& context) {
  const auto scores = of(output);
  const LinearLeafValues leaf_values(linear, *table_);
  const int n_threads = leaves.rows.size() >= kScoreBlockRows ? context.n_threads() : 1;
  for_each_leaf_by_blocks(
      leaves, count_row_blocks(leaves, kScoreBlockRows), n_threads,
      [&](std::size_t first, std::size_t last, int) { fetch(scores.subspan(first, last - first)); },
      [&](std::size_t task, std::size_t begin, std::size_t end, int) {
        const auto node = static_cast<std::size_t>(leaves.leaves[task].node);
        const double value = tree.value[node];
        if (!linear.empty() && linear.has_terms(node)) {
          leaf_values.add(node, value, std::span(leaves.rows).subspan(begin, end - begin), scores);
        } else {
          for (std::size_t i = begin; i < end; ++i) {
            if (i + kAhead < end) ARBOLEDA_PREFETCH(&scores[leaves.rows[i + kAhead]]);
            scores[leaves.rows[i]] += value;
          }
        }
      });
}

void BoostedScores::add(const TreeArrays& tree, const LinearLeaves& linear, std::size_t output,
                        std::span<const RowIndex> rows, const Context& context, double factor) {
  if (rows.empty()) return;
  const CodeTree codes(tree, *table_);
  const LinearLeafValues leaf_values(linear, *table_);
  const auto scores = of(output);
  const auto add_block = [&](std::size_t, std::size_t begin, std::size_t end) {
    context.check();
    const auto mine = rows.subspan(begin, end - begin);
    std::vector<NodeIndex> leaf(mine.size());
    codes.leaves(mine, leaf);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto node = static_cast<std::size_t>(leaf[i]);
      const double value = tree.value[node];
      scores[mine[i]] += factor * (linear.empty() ? value : leaf_values.of(node, value, mine[i]));
    }
  };
  parallel_blocks(context.n_threads(), rows.size(), kScoreBlockRows, add_block);
}

void BoostedScores::add(const TreeEnsemble& ensemble, std::span<const RowIndex> rows,
                        const Context& context) {
  const std::size_t n_outputs = ensemble.n_outputs();
  std::size_t node = 0;
  for (std::size_t t = 0; t < ensemble.trees.size(); ++t) {
    const Tree& tree = ensemble.trees[t];
    const std::size_t end = node + static_cast<std::size_t>(tree.n_nodes());
    add(tree.arrays(), part_of(ensemble.linear, node, end), t % n_outputs, rows, context);
    node = end;
  }
}

}  // namespace arboleda
