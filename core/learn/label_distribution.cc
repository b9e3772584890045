#include "learn/label_distribution.h"

namespace arboleda {

LabelDistribution::LabelDistribution(const BoosterTask& task, Pairs pairs)
    : task_(task),
      pairs_(pairs),
      pair_(task.table.n_rows * task.n_classes),
      row_(task.table.n_rows) {
  require(task.n_classes >= 2, "weights of pairs need at least two classes");
  set(task.row_weights);
}

void LabelDistribution::set(std::span<const double> row_weights) {
  const std::size_t n_classes = task_.n_classes;
  const std::size_t n_pairs = pairs_ == Pairs::all ? n_classes : n_classes - 1;
  for (const RowIndex row : task_.rows) {
    double* pair = &pair_[row * n_classes];
    std::fill_n(pair, n_classes, row_weights[row] / static_cast<double>(n_pairs));
    if (pairs_ == Pairs::wrong) pair[task_.labels[row]] = 0.0;
    row_[row] = row_weights[row];
  }
}

const LabelWeights& LabelDistribution::fixed(std::span<const std::uint8_t> sits_out) {
  fix_label_weights(pair_, task_.n_classes, sits_out, fixed_);
  return fixed_;
}

}  // namespace arboleda
