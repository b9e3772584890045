#include "predict/predict.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

// Rows of one task; also the number of rows from which a second thread is worth waking.
constexpr std::size_t kBlockRows = 4096;

template <class Table>
void check_table(const Tree& tree, const Table& table) {
  require(table.n_columns() == static_cast<std::size_t>(tree.arrays().n_features),
          "the number of columns differs from the one that the tree was fitted on");
}

// Calls visit(node) for every node the row passes, the leaf included.
template <class Table, class Visit>
void walk(const Tree& tree, const Table& table, std::size_t row, const Visit& visit) {
  NodeIndex node = 0;
  visit(node);
  while (!tree.is_leaf(node)) {
    node = tree.child(node, table.at(row, static_cast<std::size_t>(tree.feature(node))));
    visit(node);
  }
}

template <class Table>
NodeIndex leaf_of(const Tree& tree, const Table& table, std::size_t row) {
  NodeIndex leaf = 0;
  walk(tree, table, row, [&](NodeIndex node) { leaf = node; });
  return leaf;
}

template <class Body>
void for_each_row(std::size_t n_rows, const Context& context, const Body& body) {
  parallel_blocks(context.n_threads(), n_rows, kBlockRows,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    for (std::size_t row = begin; row < end; ++row) body(row);
                  });
}

}  // namespace

template <class Table>
void apply_tree(const Tree& tree, const Table& table, const Context& context,
                std::span<NodeIndex> out) {
  check_table(tree, table);
  for_each_row(table.n_rows, context,
               [&](std::size_t row) { out[row] = leaf_of(tree, table, row); });
}

template <class Table>
void predict_tree(const Tree& tree, const Table& table, const Context& context,
                  std::span<double> out) {
  check_table(tree, table);
  const auto k = static_cast<std::size_t>(tree.arrays().n_outputs);
  for_each_row(table.n_rows, context, [&](std::size_t row) {
    const auto value = tree.value(leaf_of(tree, table, row));
    std::copy(value.begin(), value.end(), out.begin() + static_cast<std::ptrdiff_t>(row * k));
  });
}

template <class Table>
DecisionPath decision_path(const Tree& tree, const Table& table, const Context& context) {
  check_table(tree, table);
  DecisionPath path;
  path.start.assign(table.n_rows + 1, 0);
  const auto depth = tree.node_depths();
  for_each_row(table.n_rows, context, [&](std::size_t row) {
    path.start[row + 1] = depth[static_cast<std::size_t>(leaf_of(tree, table, row))] + 1;
  });
  for (std::size_t row = 0; row < table.n_rows; ++row) path.start[row + 1] += path.start[row];
  path.node.resize(static_cast<std::size_t>(path.start.back()));
  for_each_row(table.n_rows, context, [&](std::size_t row) {
    auto* out = path.node.data() + path.start[row];
    walk(tree, table, row, [&](NodeIndex node) { *out++ = node; });
  });
  return path;
}

template void apply_tree(const Tree&, const TableView&, const Context&, std::span<NodeIndex>);
template void apply_tree(const Tree&, const SparseRows&, const Context&, std::span<NodeIndex>);
template void predict_tree(const Tree&, const TableView&, const Context&, std::span<double>);
template void predict_tree(const Tree&, const SparseRows&, const Context&, std::span<double>);
template DecisionPath decision_path(const Tree&, const TableView&, const Context&);
template DecisionPath decision_path(const Tree&, const SparseRows&, const Context&);

}  // namespace arboleda
