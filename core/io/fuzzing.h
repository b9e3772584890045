// What both fuzzers of the model file share: damaged files with right checksums, and everything that
// is done with a model that loads.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>

#include "io/checksum.h"
#include "io/model_file.h"
#include "predict/ensemble.h"
#include "predict/forest.h"
#include "predict/predict.h"
#include "tree/prune.h"

namespace arboleda::fuzzing {

inline void insist(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "the loader is wrong: " << what << '\n';
  std::abort();
}

inline std::uint64_t number_at(const Bytes& file, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::to_integer<std::uint64_t>(file[at + i]) << (8 * i);
  }
  return number;
}

inline void set_number(Bytes& file, std::size_t at, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) file[at + i] = static_cast<std::byte>(number >> (8 * i));
}

// Puts the length of the file and every checksum right, as far as its parts can be found: a damage
// that checksums would hide reaches what lies behind them.
inline void mend(Bytes& file) {
  if (file.size() < kPreambleSize + 16) return;
  const auto checksum = [&](std::size_t begin, std::size_t end) {
    return crc32c(ByteView(file).subspan(begin, end - begin));
  };
  set_number(file, 16, file.size(), 8);
  const std::uint64_t header = number_at(file, 24, 8);
  if (header <= file.size() - kPreambleSize - 16) {
    std::size_t at = kPreambleSize + header;
    set_number(file, at, checksum(0, at), 4);
    at += 8;
    while (file.size() - at >= 24) {
      const std::uint64_t length = number_at(file, at + 8, 8);
      if (length > file.size() - at - 24) break;
      set_number(file, at + 4, checksum(at + 16, at + 16 + length), 4);
      at += 16 + (length + 7) / 8 * 8;
      if (at > file.size()) break;
    }
  }
  set_number(file, file.size() - 4, checksum(0, file.size() - 4), 4);
}

// Rows that try every kind of value in every column.
inline std::vector<double> table_of(std::size_t n_rows, std::size_t n_columns) {
  const std::vector<double> values{0.0,     -1.0,  0.25,  1.0,    4.0,
                                   65534.0, 65535, 1e300, -1e300, std::nan("")};
  std::vector<double> table(n_rows * n_columns);
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = values[(i * 7 + i / 13) % values.size()];
  return table;
}

constexpr std::size_t kRows = 5;

// Columns of the table that `values` holds, one after another.
inline TableView view_of(const std::vector<double>& values, std::size_t n_columns) {
  TableView table;
  table.n_rows = kRows;
  for (std::size_t j = 0; j < n_columns; ++j) {
    table.columns.push_back({reinterpret_cast<const std::byte*>(values.data() + j * kRows),
                             sizeof(double), DType::float64});
  }
  return table;
}

inline std::vector<double> use_tree(const Tree& tree) {
  const auto n_columns = static_cast<std::size_t>(tree.arrays().n_features);
  const std::vector<double> values = table_of(kRows, n_columns);
  const TableView table = view_of(values, n_columns);
  const Context context;
  std::vector<double> out(kRows * static_cast<std::size_t>(tree.arrays().n_outputs));
  predict_tree(tree, table, context, out);
  std::vector<NodeIndex> leaves(kRows);
  apply_tree(tree, table, context, leaves);
  const DecisionPath path = decision_path(tree, table, context);
  for (std::size_t row = 0; row < kRows; ++row) {
    insist(tree.is_leaf(leaves[row]), "a row ends in no leaf");
    insist(path.node[static_cast<std::size_t>(path.start[row + 1] - 1)] == leaves[row],
           "a path ends elsewhere than its row");
  }
  insist(tree.depth() < tree.n_nodes(), "the tree is deeper than it has nodes");
  insist(tree.impurity().size() == tree.arrays().right.size(), "an impurity is missing");
  insist(tree.impurity_decrease().size() == n_columns, "an importance is missing");
  insist(pruning_path(tree).back().n_leaves == 1, "pruning does not end at the root");
  insist(pruned(tree, 0.125).n_nodes() <= tree.n_nodes(), "a pruned tree has grown");
  return out;
}

// Adds up the trees that have one value a leaf and the columns of the first such, in two ways.
inline void use_as_ensemble(const std::vector<Tree>& trees) {
  TreeEnsemble ensemble{{0.5}, {}};
  for (const Tree& tree : trees) {
    const bool fits =
        ensemble.trees.empty() || tree.arrays().n_features == ensemble.trees[0].arrays().n_features;
    if (tree.arrays().n_outputs == 1 && fits) ensemble.trees.push_back(tree);
  }
  if (ensemble.trees.empty()) return;
  check_ensemble(ensemble);
  const auto n_columns = static_cast<std::size_t>(ensemble.trees[0].arrays().n_features);
  const std::vector<double> values = table_of(kRows, n_columns);
  const TableView table = view_of(values, n_columns);
  const Context context;
  std::vector<double> one_by_one(kRows, 0.5);
  std::vector<double> out(kRows);
  for (const Tree& tree : ensemble.trees) {
    predict_tree(tree, table, context, out);
    for (std::size_t row = 0; row < kRows; ++row) one_by_one[row] += out[row];
  }
  const std::vector<double> scores = predict_scores(ensemble, table, context);
  insist(std::memcmp(scores.data(), one_by_one.data(), sizeof(double) * kRows) == 0,
         "trees that add up do not give their sum");
  const std::vector<NodeIndex> leaves = apply_ensemble(ensemble, table, context);
  insist(ensemble.trees.back().is_leaf(leaves.back()), "a row ends in no leaf");
  insist(impurity_importances(ensemble).size() == n_columns, "an importance is missing");
  insist(gain_importances(ensemble).size() == n_columns, "an importance is missing");
  const Bytes state = write_ensemble_sections(ensemble);
  insist(write_ensemble_sections(read_ensemble_sections(state)) == state,
         "an ensemble is written as other bytes");
}

inline std::vector<double> use_forest(const Forest& forest) {
  const auto n_columns = static_cast<std::size_t>(forest.n_features);
  const std::vector<double> values = table_of(kRows, n_columns);
  const TableView table = view_of(values, n_columns);
  const Context context;
  const std::size_t n_trees = forest.trees.size();
  const std::vector<NodeIndex> leaves = apply_forest(forest, table, context);
  std::vector<NodeIndex> one_by_one(kRows);
  for (std::size_t t = 0; t < n_trees; ++t) {
    const Tree tree = tree_of(forest, t);  // throws where an inner node is not sound
    apply_tree(tree, table, context, one_by_one);
    for (std::size_t row = 0; row < kRows; ++row) {
      insist(leaves[row * n_trees + t] == one_by_one[row], "a row ends in two leaves");
    }
    insist(leaf_begins(forest.trees[t]).back() > 0, "a tree was grown on no rows");
  }
  insist(impurity_importances(forest).size() == n_columns, "an importance is missing");
  insist(categories_are_below(forest, std::vector<std::int64_t>(n_columns, kNoCategory)),
         "a forest tests a category that is too high");
  const Bytes state = write_forest_section(forest);
  insist(write_forest_section(read_forest_section(state)) == state,
         "a forest is written as other bytes");
  if (n_trees == 0) return {};
  return mean_votes(forest, Ballot(forest, Voting::soft, {}), table, context);
}

// Loads a file and uses all of it. Returns the predictions, none if the file was refused; any end but
// these two is a defect of the loader.
inline std::vector<double> load_and_use(ByteView file) {
  ModelFile model;
  try {
    model = read_model(file);
  } catch (const Error& error) {
    insist(error.kind() == ErrorKind::bad_format, error.what());
    return {};
  }
  std::vector<const Tree*> trees;
  std::vector<double> predictions{0.0};  // not empty: it was loaded
  for (const Tree& tree : model.trees) {
    trees.push_back(&tree);
    const std::vector<double> more = use_tree(tree);
    predictions.insert(predictions.end(), more.begin(), more.end());
  }
  use_as_ensemble(model.trees);
  std::vector<const Forest*> forests;
  for (const Forest& forest : model.forests) {
    forests.push_back(&forest);
    const std::vector<double> more = use_forest(forest);
    predictions.insert(predictions.end(), more.begin(), more.end());
  }
  const Bytes again = write_model(model.header, trees, model.arrays, forests);
  insist(again.size() == file.size() && std::memcmp(again.data(), file.data(), file.size()) == 0,
         "a loaded file is written as other bytes");
  return predictions;
}

}  // namespace arboleda::fuzzing
