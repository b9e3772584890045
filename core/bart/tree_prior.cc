#include "bart/tree_prior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simd/stable_math.h"

namespace arboleda {

namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::size_t kLogs = 1024;
constexpr double kLog2 = 0.69314718055994530942;

}  // namespace

TreePrior::TreePrior(const RuleColumns& columns, const SplitPrior& prior) : columns_(columns) {
  const SampledTree root;
  for (FeatureIndex j = 0; j < columns.n_features(); ++j) {
    if (count_rules(columns[j], reach(root, 0, j)).total() > 0) offered_.push_back(j);
  }
  for (std::size_t depth = 0; depth < kMostBartLeaves; ++depth) {
    const double log_1_plus_depth = stable_log(1.0 + static_cast<double>(depth));
    const double split = prior.alpha * stable_exp(-prior.beta * log_1_plus_depth);
    log_split_.push_back(stable_log(split));
    log_stop_.push_back(stable_log(1.0 - split));
  }
  for (std::size_t n = 0; n < kLogs; ++n) {
    log_.push_back(n == 0 ? kImpossible : stable_log(static_cast<double>(n)));
  }
}

double TreePrior::log_of(std::size_t count) const {
  return count < kLogs ? log_[count] : stable_log(static_cast<double>(count));
}

TreePrior::Reach TreePrior::reach(const SampledTree& tree, Slot node, FeatureIndex feature) const {
  const RuleColumn& column = columns_[feature];
  Reach left{0, column.n_values, {}, column.has_missing};
  for (Slot child = node, above = tree[node].parent; above >= 0;
       child = above, above = tree[above].parent) {
    const Rule& rule = tree[above].rule;
    if (rule.feature != feature) continue;
    const bool is_left = tree[above].left == child;
    left.missing &= rule.missing_left == is_left;
    if (column.is_categorical && !is_left) {
      if (rule.cut < column.n_values) left.excluded.push_back(rule.cut);
    } else if (column.is_categorical) {
      left.low = std::max(left.low, rule.cut);
      left.end = std::min(left.end, rule.cut < column.n_values ? rule.cut + 1 : 0);
    } else if (is_left) {
      left.end = std::min(left.end, rule.cut + 1);
    } else {
      left.low = std::max(left.low, rule.cut + 1);
    }
  }
  left.low = std::min(left.low, left.end);
  std::sort(left.excluded.begin(), left.excluded.end());
  left.excluded.erase(std::unique(left.excluded.begin(), left.excluded.end()), left.excluded.end());
  std::erase_if(left.excluded, [&](Code c) { return c < left.low || c >= left.end; });
  return left;
}

TreePrior::RuleCounts TreePrior::count_rules(const RuleColumn& column, const Reach& reach) {
  const Code n = reach.n_present();
  if (n == 0) return {};
  const Code present = n == 1 ? 0 : column.is_categorical ? n : n - 1;
  return {present, reach.missing};
}

std::size_t TreePrior::n_columns_at(const SampledTree& tree, Slot node) const {
  // Only columns that a rule above reads can have run out of rules.
  std::vector<FeatureIndex> spent;
  for (Slot above = tree[node].parent; above >= 0; above = tree[above].parent) {
    const FeatureIndex feature = tree[above].rule.feature;
    if (std::find(spent.begin(), spent.end(), feature) == spent.end() &&
        count_rules(columns_[feature], reach(tree, node, feature)).total() == 0) {
      spent.push_back(feature);
    }
  }
  return offered_.size() - spent.size();
}

Rule TreePrior::draw_rule(const SampledTree& tree, Slot node, QuickStream& stream) const {
  while (true) {
    const FeatureIndex feature =
        offered_[stream.below(static_cast<std::uint32_t>(offered_.size()))];
    const RuleColumn& column = columns_[feature];
    const Reach left = reach(tree, node, feature);
    const RuleCounts counts = count_rules(column, left);
    if (counts.total() == 0) continue;
    const Code number = stream.below(counts.total());
    if (number == counts.present) return {feature, column.missing_cut(), column.is_categorical};
    Code cut = left.low + number;
    for (const Code excluded : left.excluded) cut += excluded <= cut ? 1 : 0;
    return {feature, cut, (stream.next() >> 31) != 0};
  }
}

double TreePrior::log_rule(const SampledTree& tree, Slot node, const Rule& rule) const {
  const RuleColumn& column = columns_[rule.feature];
  const Reach left = reach(tree, node, rule.feature);
  const RuleCounts counts = count_rules(column, left);
  if (counts.total() == 0) return kImpossible;
  const double log_uniform = -log_of(n_columns_at(tree, node)) - log_of(counts.total());
  if (column.is_missing_rule(rule)) return counts.missing ? log_uniform : kImpossible;
  // Of a numeric column the last code that is left has nothing above it.
  const Code end = column.is_categorical ? left.end : left.end - 1;
  const bool is_left = counts.present > 0 && rule.cut >= left.low && rule.cut < end &&
                       !std::binary_search(left.excluded.begin(), left.excluded.end(), rule.cut);
  return is_left ? log_uniform - kLog2 : kImpossible;
}

double TreePrior::log_tree(const SampledTree& tree) const {
  double sum = 0.0;
  for (const Slot slot : tree.preorder()) {
    const SampledNode& node = tree[slot];
    const auto depth = static_cast<std::size_t>(node.depth);
    if (!node.is_leaf()) {
      sum += log_split_[depth] + log_rule(tree, slot, node.rule);
      if (sum == kImpossible) break;
    } else if (n_columns_at(tree, slot) > 0) {
      sum += log_stop_[depth];
    }
  }
  return sum;
}

}  // namespace arboleda
