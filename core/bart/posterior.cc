#include "bart/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bart/packed_node.h"
#include "bart/sampled_tree.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

constexpr std::size_t kBlockRows = 256;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

// Codes of some rows, a line a column, and the sums of their leaves.
class Posterior::Block {
 public:
  explicit Block(std::size_t n_lines) : codes_(n_lines * kBlockRows) {}

  std::uint16_t* line(std::size_t number) { return codes_.data() + number * kBlockRows; }

  std::size_t n_rows = 0;
  std::array<std::int32_t, kBlockRows> sum{};
  std::array<std::uint16_t, kBlockRows> leaf{};

 private:
  std::vector<std::uint16_t> codes_;
};

Posterior::Posterior(PosteriorArrays arrays) : arrays_(std::move(arrays)) {
  check_columns();
  require(std::isfinite(arrays_.centre) && std::isfinite(arrays_.unit),
          "the scale of a posterior is not finite");
  const std::size_t n_trees = arrays_.n_trees;
  require(n_trees > 0 && arrays_.n_draws > 0 && arrays_.n_draws <= arrays_.nodes.size() / n_trees,
          "a posterior has fewer nodes than trees");
  line_of_.assign(n_features(), 0);
  first_node_.push_back(0);
  for (std::size_t draw = 0; draw < arrays_.n_draws; ++draw) check_draw();
  require(first_node_.back() == arrays_.nodes.size(), "a posterior has nodes of no tree");
  for (std::size_t j = 0; j < n_features(); ++j) {
    if (line_of_[j] != 0) {
      line_of_[j] = used_.size();
      used_.push_back(static_cast<FeatureIndex>(j));
    }
  }
}

void Posterior::check_columns() {
  require(arrays_.n_cuts.size() == arrays_.n_levels.size() && n_features() > 0 &&
              n_features() <= index(PackedNode::kMostFeatures),
          "a posterior has the wrong number of columns");
  std::size_t end = 0;
  for (std::size_t j = 0; j < n_features(); ++j) {
    const std::int64_t n_cuts = arrays_.n_cuts[j];
    const std::int64_t n_levels = arrays_.n_levels[j];
    require(n_cuts >= 0 && n_cuts < 65535 && n_levels >= 0 && n_levels <= 65535 &&
                (n_cuts == 0 || n_levels == 0) && index(n_cuts) <= arrays_.cuts.size() - end,
            "a column of a posterior has the wrong number of cut points");
    first_cut_.push_back(end);
    for (std::size_t c = end; c < end + index(n_cuts); ++c) {
      require(std::isfinite(arrays_.cuts[c]) && (c == end || arrays_.cuts[c - 1] < arrays_.cuts[c]),
              "the cut points of a posterior do not ascend");
    }
    end += index(n_cuts);
  }
  require(end == arrays_.cuts.size(), "a posterior has cut points of no column");
}

void Posterior::check_draw() {
  std::size_t at = first_node_.back();
  std::int64_t reach = 0;
  for (std::size_t tree = 0; tree < arrays_.n_trees; ++tree) {
    std::int64_t largest = 0;
    const std::size_t end = check_tree(at, largest);
    for (; at < end; ++at) {
      const PackedNode node(arrays_.nodes[at]);
      if (!node.is_leaf()) line_of_[index(node.rule().feature)] = 1;
    }
    reach += largest;
  }
  require(reach <= std::numeric_limits<std::int32_t>::max(), "a draw of a posterior is too large");
  first_node_.push_back(at);
}

// Where the tree that begins here ends.
std::size_t Posterior::check_tree(std::size_t begin, std::int64_t& largest) const {
  std::vector<std::size_t> rights;  // where right children must begin
  std::size_t n_leaves = 0;
  for (std::size_t at = begin; at < arrays_.nodes.size(); ++at) {
    const PackedNode node(arrays_.nodes[at]);
    require(node.is_valid(), "a node of a posterior is invalid");
    if (node.is_leaf()) {
      largest = std::max(largest, std::abs(std::int64_t{node.value()}));
      require(++n_leaves <= kMostBartLeaves, "a tree of a posterior has more than 256 leaves");
      if (rights.empty()) return at + 1;
      require(rights.back() == at + 1, "a right child of a posterior is not behind the left ones");
      rights.pop_back();
      continue;
    }
    const Rule rule = node.rule();
    const std::size_t j = index(rule.feature);
    require(j < n_features(), "a rule of a posterior reads a column that is not there");
    const std::int64_t levels = arrays_.n_levels[j];
    require(rule.cut <= (levels > 0 ? levels : arrays_.n_cuts[j]),
            "a rule of a posterior refers to a cut that its column lacks");
    rights.push_back(at + index(node.to_right()));
    require(rights.size() < kMostBartLeaves, "a tree of a posterior has more than 256 leaves");
  }
  throw Error(ErrorKind::invalid_argument, "the last tree of a posterior does not end");
}

template <class Table>
void Posterior::fill(const Table& table, std::size_t begin, std::size_t end, Block& block) const {
  block.n_rows = end - begin;
  for (std::size_t line = 0; line < used_.size(); ++line) {
    const std::size_t j = static_cast<std::size_t>(used_[line]);
    const std::int64_t levels = arrays_.n_levels[j];
    const auto first = arrays_.cuts.begin() + static_cast<std::ptrdiff_t>(first_cut_[j]);
    const auto last = first + arrays_.n_cuts[j];
    const auto missing = static_cast<std::uint16_t>(levels > 0 ? levels : arrays_.n_cuts[j] + 1);
    std::uint16_t* codes = block.line(line);
    for (std::size_t i = 0; i < block.n_rows; ++i) {
      const double x = table.at(begin + i, j);
      if (levels > 0) {  // what is no level, NaN included, is missing
        codes[i] =
            x >= 0.0 && x < static_cast<double>(levels) ? static_cast<std::uint16_t>(x) : missing;
      } else {
        codes[i] =
            x != x ? missing : static_cast<std::uint16_t>(std::lower_bound(first, last, x) - first);
      }
    }
  }
}

// The sums of one draw, row by row of the block. Rows know the leaf that they would come to if they went
// left at every node still ahead, as the number of nodes before it; a rule moves those it sends right.
void Posterior::add_draw(std::size_t draw, Block& block) const {
  const std::size_t n = block.n_rows;
  block.sum.fill(0);
  const std::int64_t* nodes = arrays_.nodes.data();
  for (std::size_t at = first_node_[draw]; at < first_node_[draw + 1];) {
    const std::int64_t* tree = nodes + at;
    std::size_t n_nodes = 0;
    std::size_t open = 1;  // children still to come
    // A leaf is known by the number of the last right child on the way to it; 0 where there is none.
    std::array<std::uint16_t, kMostBartLeaves + 1> ahead;
    std::size_t n_ahead = 0;
    std::uint16_t mine = 0;
    bool is_first = true;
    std::array<std::int32_t, 2 * kMostBartLeaves> value;
    for (; open > 0; ++n_nodes) {
      const PackedNode node(tree[n_nodes]);
      if (node.is_leaf()) {
        --open;
        value[mine] = node.value();
        if (n_ahead > 0) mine = ahead[--n_ahead];
        continue;
      }
      ++open;
      const Rule rule = node.rule();
      const auto right = static_cast<std::uint16_t>(n_nodes + index(node.to_right()));
      const std::size_t j = static_cast<std::size_t>(rule.feature);
      const std::uint16_t* code = block.line(line_of_[j]);
      const bool by_level = arrays_.n_levels[j] > 0;
      const auto missing =
          static_cast<std::uint16_t>(by_level ? arrays_.n_levels[j] : arrays_.n_cuts[j] + 1);
      const auto cut = static_cast<std::uint16_t>(rule.cut);
      if (is_first) std::fill_n(block.leaf.begin(), n, std::uint16_t{0});
      is_first = false;
      const auto move = [&](const auto& goes_right) {
        std::uint16_t* leaf = block.leaf.data();
        for (std::size_t i = 0; i < n; ++i) {
          leaf[i] = ((leaf[i] == mine) & goes_right(code[i])) ? right : leaf[i];
        }
      };
      if (by_level && rule.missing_left) {
        move([&](std::uint16_t c) { return (c != cut) & (c != missing); });
      } else if (by_level) {
        move([&](std::uint16_t c) { return (c != cut) | (c == missing); });
      } else if (rule.missing_left) {
        move([&](std::uint16_t c) { return (c > cut) & (c != missing); });
      } else {  // the missing code is above all cuts
        move([&](std::uint16_t c) { return c > cut; });
      }
      ahead[n_ahead++] = right;
    }
    if (n_nodes == 1) {
      for (std::size_t i = 0; i < n; ++i) block.sum[i] += value[0];
    } else {
      for (std::size_t i = 0; i < n; ++i) block.sum[i] += value[block.leaf[i]];
    }
    at += n_nodes;
  }
}

template <class Table>
void Posterior::draw(std::size_t first, std::size_t last, const Table& table,
                     const Context& context, std::span<double> values) const {
  require(table.n_columns() == n_features(),
          "the number of columns differs from that of the posterior");
  require(
      first <= last && last <= arrays_.n_draws && values.size() == (last - first) * table.n_rows,
      "there are no such draws");
  parallel_blocks(context.n_threads(), table.n_rows, kBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    Block block(used_.size());
                    fill(table, begin, end, block);
                    for (std::size_t d = first; d < last; ++d) {
                      context.check();
                      add_draw(d, block);
                      double* out = values.data() + (d - first) * table.n_rows + begin;
                      for (std::size_t i = 0; i < block.n_rows; ++i) {
                        out[i] = arrays_.centre + arrays_.unit * block.sum[i];
                      }
                    }
                  });
}

template <class Table>
void Posterior::mean(const Table& table, const Context& context, std::span<double> values) const {
  require(table.n_columns() == n_features(),
          "the number of columns differs from that of the posterior");
  require(values.size() == table.n_rows, "there is no room for a value a row");
  parallel_blocks(context.n_threads(), table.n_rows, kBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    Block block(used_.size());
                    fill(table, begin, end, block);
                    std::array<std::int64_t, kBlockRows> sum{};
                    for (std::size_t d = 0; d < arrays_.n_draws; ++d) {
                      context.check();
                      add_draw(d, block);
                      for (std::size_t i = 0; i < block.n_rows; ++i) sum[i] += block.sum[i];
                    }
                    const auto n = static_cast<double>(arrays_.n_draws);
                    for (std::size_t i = 0; i < block.n_rows; ++i) {
                      values[begin + i] =
                          arrays_.centre + arrays_.unit * (static_cast<double>(sum[i]) / n);
                    }
                  });
}

std::vector<std::int64_t> Posterior::split_counts() const {
  std::vector<std::int64_t> counts(arrays_.n_draws * n_features());
  for (std::size_t draw = 0; draw < arrays_.n_draws; ++draw) {
    for (std::size_t at = first_node_[draw]; at < first_node_[draw + 1]; ++at) {
      const PackedNode node(arrays_.nodes[at]);
      if (!node.is_leaf()) ++counts[draw * n_features() + index(node.rule().feature)];
    }
  }
  return counts;
}

std::vector<std::int64_t> Posterior::leaf_counts() const {
  std::vector<std::int64_t> counts;
  for (std::size_t at = 0; at < arrays_.nodes.size();) {
    std::int64_t n_leaves = 0;
    for (std::size_t open = 1; open > 0; ++at) {
      const bool is_leaf = PackedNode(arrays_.nodes[at]).is_leaf();
      n_leaves += is_leaf ? 1 : 0;
      open += is_leaf ? std::size_t{0} - 1 : 1;
    }
    counts.push_back(n_leaves);
  }
  return counts;
}

template void Posterior::draw(std::size_t, std::size_t, const TableView&, const Context&,
                              std::span<double>) const;
template void Posterior::draw(std::size_t, std::size_t, const SparseRows&, const Context&,
                              std::span<double>) const;
template void Posterior::mean(const TableView&, const Context&, std::span<double>) const;
template void Posterior::mean(const SparseRows&, const Context&, std::span<double>) const;

}  // namespace arboleda
