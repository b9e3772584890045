#include "predict/hyperplanes.h"

#include <algorithm>

#include "base/error.h"
#include "base/thread_pool.h"

namespace arboleda {

namespace {

constexpr std::size_t kRowsOfBlock = 64;  // that pass one tree after the other

double leaf_value(const HyperplaneForest& forest, std::size_t root, const double* row) {
  std::size_t node = root;
  while (forest.right[node] >= 0) {
    const std::size_t first = static_cast<std::size_t>(forest.place[node]) * forest.n_terms;
    double sum = 0.0;
    for (std::size_t term = first; term < first + forest.n_terms; ++term) {
      const double distance =
          row[static_cast<std::size_t>(forest.feature[term])] - forest.point[term];
      sum += distance == distance ? forest.weight[term] * distance : 0.0;
    }
    node = sum <= 0.0 ? node + 1 : static_cast<std::size_t>(forest.right[node]);
  }
  return forest.value[static_cast<std::size_t>(forest.place[node])];
}

}  // namespace

std::vector<double> mean_values(const HyperplaneForest& forest, const TableCells& table,
                                const Context& context) {
  const std::size_t width = table.n_columns;
  require(static_cast<std::int64_t>(width) == forest.n_features,
          "the table has another number of columns than the forest");
  std::vector<double> means(table.n_rows, 0.0);
  parallel_blocks(context.n_threads(), table.n_rows, kRowsOfBlock,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    std::vector<double> cells((end - begin) * width);
                    for (std::size_t i = 0; i < cells.size(); ++i) {
                      cells[i] = table.at(begin + i / width, i % width);
                    }
                    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
                      const auto root = static_cast<std::size_t>(forest.root[tree]);
                      for (std::size_t row = begin; row < end; ++row) {
                        means[row] += leaf_value(forest, root, &cells[(row - begin) * width]);
                      }
                    }
                  });
  for (double& mean : means) mean /= static_cast<double>(forest.n_trees());
  return means;
}

}  // namespace arboleda
