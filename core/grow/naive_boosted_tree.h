// For tests: a boosted tree grown naively. Every possible split is tried on the node's
// rows with sums of doubles; the leaf with the largest gain is split next.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "criterion/newton.h"
#include "data/binned_dataset.h"
#include "data/gather_codes.h"
#include "split/histogram_options.h"

namespace arboleda {

// The codes of every column, a row each.
inline std::vector<std::vector<Code>> gather_all_codes(const BinnedDataset& table) {
  std::vector<RowIndex> rows(table.n_rows);
  std::iota(rows.begin(), rows.end(), RowIndex{0});
  std::vector<std::vector<Code>> codes(table.columns.size());
  for (std::size_t f = 0; f < codes.size(); ++f) gather_codes(table.columns[f], rows, codes[f]);
  return codes;
}

// Calls split(node) for the open node of the largest gain, until there are enough leaves or no gain is left.
template <class Node, class Split>
void split_best_nodes(const std::vector<Node>& nodes, std::int64_t max_leaf_nodes,
                      const Split& split) {
  for (std::int64_t n_leaves = 1; n_leaves < max_leaf_nodes; ++n_leaves) {
    int best = -1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const bool open = nodes[i].left < 0 && nodes[i].gain > 0.0;
      if (open && (best < 0 || nodes[i].gain > nodes[static_cast<std::size_t>(best)].gain)) {
        best = static_cast<int>(i);
      }
    }
    if (best < 0) break;
    split(static_cast<std::size_t>(best));
  }
}

class NaiveBoostedTree {
 public:
  struct Node {
    std::vector<RowIndex> rows;
    LeafBounds bounds;
    int depth = 0;
    double gain = 0.0, value = 0.0;
    FeatureIndex feature = -1;
    std::vector<bool> left_codes;  // of the best split, by code
    int left = -1, right = -1;
  };

  NaiveBoostedTree(const BinnedDataset& table, std::span<const double> gradient,
                   std::span<const double> hessian, const HistogramOptions& options,
                   std::vector<RowIndex> rows)
      : table_(table),
        gradient_(gradient),
        hessian_(hessian),
        options_(options),
        codes_(gather_all_codes(table)) {
    nodes.push_back({.rows = std::move(rows)});
    find(nodes[0]);
    split_best_nodes(nodes, options.max_leaf_nodes, [&](std::size_t node) { split(node); });
  }

  std::vector<Node> nodes;

 private:
  struct Sums {
    double g = 0.0, h = 0.0;
    std::size_t n = 0;
  };

  template <class Keep>
  Sums sum(const Node& node, const Keep& keep) const {
    Sums sums;
    for (const RowIndex row : node.rows) {
      if (!keep(row)) continue;
      sums.g += gradient_[row];
      sums.h += hessian_.empty() ? 1.0 : hessian_[row];
      ++sums.n;
    }
    return sums;
  }

  // Codes the node has, in the order in which cuts are tried.
  std::vector<std::pair<double, Code>> order(const Node& node, std::size_t f) const {
    const CodedColumn& column = table_.columns[f];
    std::vector<std::pair<double, Code>> keyed;
    for (Code code = 0; code < column.n_codes(); ++code) {
      if (!column.is_categorical && code == column.n_values) continue;
      const Sums s = sum(node, [&](RowIndex row) { return codes_[f][row] == code; });
      if (s.n == 0) continue;
      keyed.emplace_back(column.is_categorical ? s.g / (s.h + options_.category_smoothing) : code,
                         code);
    }
    std::sort(keyed.begin(), keyed.end());
    return keyed;
  }

  void find(Node& node) const {
    const NewtonLeaf leaf{options_.l1, options_.l2, options_.max_delta_step};
    const Sums all = sum(node, [](RowIndex) { return true; });
    node.value = leaf.value(all.g, all.h, node.bounds);
    if (node.depth >= options_.max_depth) return;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t f = 0; f < table_.columns.size(); ++f) {
      const CodedColumn& column = table_.columns[f];
      const int way = options_.monotonic.empty() ? 0 : options_.monotonic[f];
      const auto keyed = order(node, f);
      const double more = column.is_categorical && keyed.size() > 2
                              ? options_.category_l2 * static_cast<double>(keyed.size() - 2)
                              : 0.0;
      for (const bool missing_left : {false, true}) {
        if (missing_left && (!column.has_missing || column.is_categorical)) continue;
        std::vector<bool> left(column.n_codes());
        if (missing_left) left[column.n_values] = true;
        for (std::size_t i = 0; i < keyed.size(); ++i) {
          left[keyed[i].second] = true;
          if (i + 1 < keyed.size() && keyed[i].first == keyed[i + 1].first) continue;  // a tie
          const Sums l = sum(node, [&](RowIndex row) { return left[codes_[f][row]]; });
          const Sums r{all.g - l.g, all.h - l.h, all.n - l.n};
          if (l.n == 0 || r.n == 0 || l.n < options_.min_samples_leaf ||
              r.n < options_.min_samples_leaf || l.h < options_.min_child_weight ||
              r.h < options_.min_child_weight) {
            continue;
          }
          const double vl = leaf.value(l.g, l.h, node.bounds, more);
          const double vr = leaf.value(r.g, r.h, node.bounds, more);
          if ((way > 0 && vl > vr) || (way < 0 && vl < vr)) continue;
          const double score = leaf.score(l.g, l.h, vl, more) + leaf.score(r.g, r.h, vr, more);
          if (score <= best + 1e-9 * std::abs(best)) continue;
          best = score;
          node.feature = static_cast<FeatureIndex>(f);
          node.left_codes = left;
        }
      }
    }
    const double gain = 0.5 * (best - leaf.score(all.g, all.h, node.value)) - options_.min_gain;
    if (gain > 1e-9) node.gain = gain;
  }

  void split(std::size_t at) {
    Node left, right;
    const auto f = static_cast<std::size_t>(nodes[at].feature);
    for (const RowIndex row : nodes[at].rows) {
      (nodes[at].left_codes[codes_[f][row]] ? left : right).rows.push_back(row);
    }
    left.depth = right.depth = nodes[at].depth + 1;
    left.bounds = right.bounds = nodes[at].bounds;
    const int way = options_.monotonic.empty() ? 0 : options_.monotonic[f];
    if (way != 0) {
      find(left);
      find(right);
      const double middle = left.value / 2 + right.value / 2;
      (way > 0 ? left : right).bounds.upper = middle;
      (way > 0 ? right : left).bounds.lower = middle;
      left.gain = right.gain = 0.0;
      left.feature = right.feature = -1;
    }
    find(left);
    find(right);
    nodes[at].left = static_cast<int>(nodes.size());
    nodes.push_back(std::move(left));
    nodes[at].right = static_cast<int>(nodes.size());
    nodes.push_back(std::move(right));
  }

  const BinnedDataset& table_;
  std::span<const double> gradient_, hessian_;
  const HistogramOptions& options_;
  const std::vector<std::vector<Code>> codes_;
};

}  // namespace arboleda
