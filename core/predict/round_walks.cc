#include "predict/round_walks.h"

namespace arboleda {

namespace {

bool have_same_splits(const TreeArrays& a, const TreeArrays& b) {
  return a.right == b.right && a.feature == b.feature && a.threshold == b.threshold &&
         a.missing_left == b.missing_left && a.category_start == b.category_start &&
         a.category == b.category;
}

bool have_shared_rounds(std::span<const Tree> trees, std::size_t n_outputs) {
  if (n_outputs < 2) return false;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Tree& first = trees[t - t % n_outputs];
    if (!have_same_splits(first.arrays(), trees[t].arrays())) return false;
  }
  return true;
}

}  // namespace

RoundWalks::RoundWalks(const TreeEnsemble& ensemble, std::size_t first_round,
                       std::size_t last_round)
    : trees_(std::span(ensemble.trees)
                 .subspan(first_round * ensemble.n_outputs(),
                          (last_round - first_round) * ensemble.n_outputs())),
      n_outputs_(ensemble.n_outputs()) {
  if (!ensemble.linear.empty() || !have_shared_rounds(trees_, n_outputs_)) return;
  for (std::size_t t = 0; t < trees_.size(); t += n_outputs_) {
    first_trees_.push_back(trees_[t]);
    first_node_.push_back(values_.size() / n_outputs_);
    for (NodeIndex node = 0; node < trees_[t].n_nodes(); ++node) {
      for (std::size_t k = 0; k < n_outputs_; ++k) {
        values_.push_back(trees_[t + k].value(node)[0]);
      }
    }
  }
}

}  // namespace arboleda
