#include "grow/code_tree.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Rows of one task.
constexpr std::size_t kCodedBlockRows = std::size_t{1} << 13;

bool are_consecutive(std::span<const RowIndex> rows) {
  RowIndex differ = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    differ |= rows[i] ^ (rows[0] + static_cast<RowIndex>(i));
  }
  return differ == 0 && !rows.empty();
}

}  // namespace

CodeTree::CodeTree(const TreeArrays& tree, const BinnedDataset& table) {
  require(tree.n_features == table.n_features(),
          "the number of columns differs from the one that the tree was grown on");
  nodes_.reserve(tree.right.size());
  for (std::size_t node = 0; node < tree.right.size(); ++node) {
    nodes_.push_back(make_node(tree, table, node));
  }
  make_byte_nodes(table.n_rows);
}

void CodeTree::make_byte_nodes(std::size_t n_rows) {
  const auto is_simple = [](const Node& node) {
    return node.right < 0 || (node.kind == Codes::bytes && !node.is_categorical);
  };
  if (nodes_.size() < 2 || !std::all_of(nodes_.begin(), nodes_.end(), is_simple)) return;
  const auto* any_codes = static_cast<const std::uint8_t*>(nodes_[0].column);
  std::vector<std::int32_t> depth(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const auto self = static_cast<NodeIndex>(i);
    if (node.right < 0) {
      byte_nodes_.push_back({any_codes, self, self, 0, 0, false});
      depth_ = std::max(depth_, depth[i]);
      continue;
    }
    byte_nodes_.push_back({static_cast<const std::uint8_t*>(node.column), self + 1, node.right,
                           node.limit, node.missing, node.missing_left});
    depth[i + 1] = depth[static_cast<std::size_t>(node.right)] = depth[i] + 1;
  }
  if (nodes_.size() > ByteTree::kMostNodes) return;
  std::vector<ByteTree::Node> nodes;
  for (const Node& node : nodes_) {
    nodes.push_back({static_cast<const std::uint8_t*>(node.column), node.limit, node.missing,
                     node.missing_left, node.right});
  }
  byte_tree_ = ByteTree(nodes, n_rows);
}

// The leaves below the only test of a tree, on codes of a plain array.
template <class T>
void CodeTree::part(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const {
  const Node coded = nodes_[0];
  const auto* codes = static_cast<const T*>(coded.column);
  const auto leaf_of = [&](Code code) {
    const bool left = (code < coded.limit) | ((code == coded.missing) & coded.missing_left);
    return left ? 1 : coded.right;
  };
  if (are_consecutive(rows)) {  // many rows at a time
    codes += rows.front();
    for (std::size_t i = 0; i < leaf.size(); ++i) leaf[i] = leaf_of(codes[i]);
  } else {
    for (std::size_t i = 0; i < leaf.size(); ++i) leaf[i] = leaf_of(codes[rows[i]]);
  }
}

void CodeTree::leaves(std::span<const RowIndex> rows, std::span<NodeIndex> leaf) const {
  if (nodes_.size() == 3 && !nodes_[0].is_categorical) {
    if (nodes_[0].kind == Codes::bytes) return part<std::uint8_t>(rows, leaf);
    if (nodes_[0].kind == Codes::words) return part<std::uint16_t>(rows, leaf);
    if (nodes_[0].kind == Codes::wide) return part<std::uint32_t>(rows, leaf);
  }
  if (byte_tree_.serves(rows)) return byte_tree_.leaves(rows, leaf);
  std::size_t i = 0;
  // Rows side by side: while one waits for its code, the others go on.
  constexpr std::size_t kAbreast = 8;
  for (; !byte_nodes_.empty() && i + kAbreast <= rows.size(); i += kAbreast) {
    NodeIndex at[kAbreast] = {};
    for (std::int32_t d = 0; d < depth_; ++d) {
      for (std::size_t k = 0; k < kAbreast; ++k) {
        const ByteNode& node = byte_nodes_[static_cast<std::size_t>(at[k])];
        const Code code = node.codes[rows[i + k]];
        const bool left = code == node.missing ? node.missing_left : code < node.limit;
        at[k] = left ? node.left : node.right;
      }
    }
    std::copy_n(at, kAbreast, leaf.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (; i < rows.size(); ++i) leaf[i] = this->leaf(rows[i]);
}

CodeTree::Node CodeTree::make_node(const TreeArrays& tree, const BinnedDataset& table,
                                   std::size_t node) {
  Node coded{};
  coded.right = tree.right[node];
  if (coded.right < 0) return coded;
  const CodedColumn& column = table.columns[static_cast<std::size_t>(tree.feature[node])];
  coded.threshold = tree.threshold[node];
  coded.missing_left = tree.missing_left[node] != 0;
  coded.missing = column.has_missing ? column.get_missing_code() : kNoMissing;
  coded.kind = static_cast<Codes>(column.codes.index());
  coded.column = std::visit(
      [&](const auto& codes) -> const void* {
        if constexpr (std::is_same_v<std::decay_t<decltype(codes)>, SparseCodes>)
          return &codes;
        else
          return codes.data();
      },
      column.codes);

  const auto begin = tree.category_start.empty() ? 0 : tree.category_start[node];
  const auto end = tree.category_start.empty() ? 0 : tree.category_start[node + 1];
  coded.is_categorical = begin < end;
  if (coded.is_categorical) {
    coded.others_begin = static_cast<std::uint32_t>(others_.size());
    coded.n_others = tree.category[static_cast<std::size_t>(end - 1)] + std::uint32_t{1};
    others_.resize(others_.size() + coded.n_others);
    for (auto c = begin; c < end; ++c) {
      others_[coded.others_begin + tree.category[static_cast<std::size_t>(c)]] = true;
    }
    return coded;
  }

  const auto& largest = column.upper.empty() ? column.values : column.upper;
  const auto limit = std::upper_bound(largest.begin(), largest.end(), coded.threshold);
  coded.limit = static_cast<Code>(limit - largest.begin());
  const bool kept = column.values.size() == column.n_values;
  const bool splits_a_code =
      kept && coded.limit < column.n_values && column.values[coded.limit] <= coded.threshold;
  if (!kept || splits_a_code) {
    require(column.source.data != nullptr, "a threshold falls inside a code of a sparse column");
    coded.kind = Codes::values;
    coded.column = &column.source;
  }
  return coded;
}

bool CodeTree::goes_left(const Node& node, RowIndex row) const {
  Code code = 0;
  switch (node.kind) {
    case Codes::bytes:
      code = static_cast<const std::uint8_t*>(node.column)[row];
      break;
    case Codes::words:
      code = static_cast<const std::uint16_t*>(node.column)[row];
      break;
    case Codes::wide:
      code = static_cast<const std::uint32_t*>(node.column)[row];
      break;
    case Codes::sparse:
      code = code_at(*static_cast<const SparseCodes*>(node.column), row);
      break;
    case Codes::values:
      const double x = (*static_cast<const ColumnView*>(node.column))[row];
      return x == x ? x <= node.threshold : node.missing_left;
  }
  if (node.is_categorical) {
    const bool other =
        code < node.n_others && code != node.missing && others_[node.others_begin + code];
    return other != node.missing_left;
  }
  return code == node.missing ? node.missing_left : code < node.limit;
}

void find_leaves(const CodeTree& tree, std::span<const RowIndex> rows, const Context& context,
                 std::span<NodeIndex> leaf) {
  parallel_blocks(context.n_threads(), rows.size(), kCodedBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    tree.leaves(rows.subspan(begin, end - begin), leaf.subspan(begin, end - begin));
                  });
}

LeafRows group_by_leaf(const TreeArrays& tree, std::span<const RowIndex> rows,
                       std::span<const NodeIndex> leaf) {
  std::vector<std::size_t> next(tree.right.size() + 1);
  for (const NodeIndex node : leaf) ++next[static_cast<std::size_t>(node) + 1];
  LeafRows grouped;
  for (std::size_t node = 0; node < tree.right.size(); ++node) {
    next[node + 1] += next[node];
    if (tree.right[node] < 0) {
      grouped.leaves.push_back(
          {.node = static_cast<NodeIndex>(node), .begin = next[node], .end = next[node + 1]});
    }
  }
  grouped.rows.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    grouped.rows[next[static_cast<std::size_t>(leaf[i])]++] = rows[i];
  }
  return grouped;
}

}  // namespace arboleda
