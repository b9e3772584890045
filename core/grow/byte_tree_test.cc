#include "grow/byte_tree.h"

#include <doctest/doctest.h>

#include <numeric>

#include "base/random.h"

namespace arboleda {

namespace {

constexpr std::size_t kColumns = 5;

// Columns of codes; those of odd numbers have missing values, with the last code.
struct Codes {
  explicit Codes(std::size_t n_rows) : n(n_rows), columns(kColumns) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        columns[j].push_back(static_cast<std::uint8_t>(random.below(n_codes(j))));
      }
    }
  }
  static Code n_codes(std::size_t column) { return column < 2 ? 256 : 9; }
  static Code missing(std::size_t column) {
    return column % 2 == 1 ? n_codes(column) - 1 : UINT32_MAX;
  }

  // Adds the nodes of a random tree, in preorder.
  void add_nodes(std::size_t depth, std::vector<ByteTree::Node>& nodes) {
    const std::size_t own = nodes.size();
    nodes.push_back({nullptr, 0, 0, false, -1});
    if (depth == 0 || (own > 0 && random.below(6) == 0)) return;
    const std::size_t column = random.below(kColumns);
    const Code limit = random.below(n_codes(column) + (column % 2 == 1 ? 0U : 1U));
    add_nodes(depth - 1, nodes);
    nodes[own] = {columns[column].data(), limit, missing(column), random.below(2) == 0,
                  static_cast<NodeIndex>(nodes.size())};
    add_nodes(depth - 1, nodes);
  }

  std::size_t n;
  std::vector<std::vector<std::uint8_t>> columns;
  RandomStream random{5, Purpose::random_split, 0, 0};
};

NodeIndex leaf_of(std::span<const ByteTree::Node> nodes, RowIndex row) {
  NodeIndex at = 0;
  while (nodes[static_cast<std::size_t>(at)].right >= 0) {
    const ByteTree::Node& node = nodes[static_cast<std::size_t>(at)];
    const Code code = node.codes[row];
    const bool left = code == node.missing ? node.missing_left : code < node.limit;
    at = left ? at + 1 : node.right;
  }
  return at;
}

void check_leaves(std::span<const ByteTree::Node> nodes, std::size_t n_rows,
                  std::span<const RowIndex> rows) {
  std::vector<NodeIndex> leaf(rows.size()), expected;
  ByteTree(nodes, n_rows).leaves(rows, leaf);
  for (const RowIndex row : rows) expected.push_back(leaf_of(nodes, row));
  CHECK(leaf == expected);
}

}  // namespace

TEST_SUITE("byte_tree") {
  TEST_CASE("the leaves are those of the walk: all rows, some, and a part of a block") {
    for (const std::size_t depth : {1, 2, 4, 6}) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        Codes codes(1000 + static_cast<std::size_t>(repeat));
        for (int skip = 0; skip < repeat; ++skip) codes.random.next();
        std::vector<ByteTree::Node> nodes;
        codes.add_nodes(depth, nodes);
        REQUIRE(nodes.size() <= ByteTree::kMostNodes);
        std::vector<RowIndex> rows(codes.n), some;
        std::iota(rows.begin(), rows.end(), RowIndex{0});
        for (const RowIndex row : rows) {
          if (row > 7 && codes.random.below(3) == 0) some.push_back(row);
        }
        check_leaves(nodes, codes.n, rows);
        check_leaves(nodes, codes.n, some);
      }
    }
  }

  TEST_CASE("serves many rows that lie side by side") {
    Codes codes(8000);
    std::vector<ByteTree::Node> nodes;
    codes.add_nodes(3, nodes);
    const ByteTree tree(nodes, codes.n);
    std::vector<RowIndex> rows(2000), apart;
    std::iota(rows.begin(), rows.end(), RowIndex{0});
    for (const RowIndex row : rows) apart.push_back(5 * row);
    CHECK(tree.serves(rows));
    CHECK_FALSE(tree.serves(apart));
    CHECK_FALSE(tree.serves(std::span(rows).first(100)));
    CHECK_FALSE(ByteTree().serves(rows));
  }
}

}  // namespace arboleda
