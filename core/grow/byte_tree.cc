#include "grow/byte_tree.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "predict/result_lines.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

// A row alone takes about as long as this many rows of blocks.
constexpr std::size_t kRowsOfOne = 4;

// Rows from which setting up the lines pays.
constexpr std::size_t kLeastRows = 4 * kTreeRows;

}  // namespace

// Preorder backwards: the children of a node come before it.
ByteTree::ByteTree(std::span<const Node> nodes, std::size_t n_rows) : n_rows_(n_rows) {
  std::vector<std::uint16_t> result_of(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].right >= 0) continue;
    result_of[i] = static_cast<std::uint16_t>(leaves_.size());
    leaves_.push_back(static_cast<NodeIndex>(i));
  }
  FreeLines unused;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const Node& node = nodes[i];
    if (node.right < 0) continue;
    const std::uint16_t left = result_of[i + 1];
    const std::uint16_t right = result_of[static_cast<std::size_t>(node.right)];
    unused.give_back(left);
    const std::uint32_t line = line_of(node);
    if (node.limit == 0 && !lines_[line].is_shifted) {  // no code goes left
      result_of[i] = right;
      continue;
    }
    unused.give_back(right);
    result_of[i] = unused.take();
    const Code last = lines_[line].is_shifted ? node.limit : node.limit - 1;
    nodes_.push_back({line, left, right, result_of[i], static_cast<std::uint8_t>(last)});
  }
  n_results_ = unused.n_lines();
  root_line_ = result_of[0];
}

std::uint32_t ByteTree::line_of(const Node& node) {
  const bool has_missing = node.missing <= UINT8_MAX;
  const Line wanted{node.codes, node.missing, has_missing && node.missing_left};
  const auto found = std::find(lines_.begin(), lines_.end(), wanted);
  const auto line = static_cast<std::uint32_t>(found - lines_.begin());
  if (found == lines_.end()) lines_.push_back(wanted);
  return line;
}

bool ByteTree::serves(std::span<const RowIndex> rows) const {
  return !leaves_.empty() && rows.size() >= kLeastRows &&
         rows.back() - rows.front() < kRowsOfOne * rows.size();
}

void ByteTree::leaves(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const {
  std::vector<TreeLine> codes(lines_.size());
  UnfilledVector<TreeLine> results(n_results_);
  if (root_line_ < kLeafLines) std::memset(results[root_line_].of_row, root_line_, kTreeRows);
  const auto& loops = kernels().coded_trees;
  for (std::size_t i = 0; i < rows.size();) {
    const RowIndex first = rows[i];
    fill(first, codes);
    loops.leaf_numbers(nodes_.data(), nodes_.size(), codes.data(), results.data());
    const std::uint8_t* numbers = results[root_line_].of_row;
    for (; i < rows.size() && rows[i] - first < kTreeRows; ++i) {
      leaf[i] = leaves_[numbers[rows[i] - first]];
    }
  }
}

void ByteTree::fill(std::size_t first, std::span<TreeLine> codes) const {
  const std::size_t n = std::min(kTreeRows, n_rows_ - first);
  for (std::size_t j = 0; j < lines_.size(); ++j) {
    const std::uint8_t* from = lines_[j].codes + first;
    std::uint8_t* to = codes[j].of_row;
    if (!lines_[j].is_shifted) {
      std::memcpy(to, from, n);
      continue;
    }
    const auto missing = static_cast<std::uint8_t>(lines_[j].missing);
    for (std::size_t i = 0; i < n; ++i) {
      to[i] = from[i] == missing ? std::uint8_t{0} : static_cast<std::uint8_t>(from[i] + 1);
    }
  }
}

}  // namespace arboleda
