#include "predict/weighted_median.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/thread_pool.h"
#include "predict/forest.h"

namespace arboleda {

namespace {

constexpr std::size_t kBlock = 2048;

bool is_below(const WeightedValue& a, const WeightedValue& b) { return a.value < b.value; }

void check_weight(double weight) {
  require(weight >= 0.0 && std::isfinite(weight), "a member's weight is negative or not finite");
}

}  // namespace

double weighted_median(std::span<const WeightedValue> members) {
  double total = 0.0;
  for (const WeightedValue& member : members) total += member.weight;
  const double half = 0.5 * total;
  double sum = 0.0;
  for (const WeightedValue& member : members) {
    sum += member.weight;
    if (sum >= half) return member.value;
  }
  return members.back().value;
}

template <class Table>
std::vector<double> median_values(const Forest& forest, std::span<const double> weights,
                                  const Table& table, const Context& context) {
  const std::size_t n_trees = forest.trees.size();
  require(n_trees > 0 && weights.size() == n_trees, "one weight a tree is needed, and a tree");
  require(forest.n_outputs == 1, "medians are of one target");
  for (const double weight : weights) check_weight(weight);
  std::vector<double> medians(table.n_rows);
  parallel_blocks(
      context.n_threads(), table.n_rows, kBlock,
      [&](std::size_t, std::size_t begin, std::size_t end) {
        const Context alone = context.of_one_task();
        const auto leaves = apply_forest(forest, rows_between(table, begin, end), alone);
        std::vector<WeightedValue> members(n_trees);
        for (std::size_t i = begin; i < end; ++i) {
          for (std::size_t t = 0; t < n_trees; ++t) {
            const NodeIndex leaf = leaves[(i - begin) * n_trees + t];
            members[t] = {forest.trees[t].leaf_value(leaf, 1, forest.measure)[0], weights[t]};
          }
          std::stable_sort(members.begin(), members.end(), is_below);
          medians[i] = weighted_median(members);
        }
      });
  return medians;
}

template std::vector<double> median_values(const Forest&, std::span<const double>, const TableView&,
                                           const Context&);
template std::vector<double> median_values(const Forest&, std::span<const double>,
                                           const SparseRows&, const Context&);

void RunningMedians::add(std::span<const double> values, double weight, const Context& context) {
  require(values.size() == members_.size(), "one value a row is needed");
  require(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }),
          "a value is not finite");
  check_weight(weight);
  parallel_blocks(context.n_threads(), members_.size(), kBlock,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      const WeightedValue member{values[i], weight};
                      auto& row = members_[i];
                      row.insert(std::upper_bound(row.begin(), row.end(), member, is_below),
                                 member);
                    }
                  });
}

std::vector<double> RunningMedians::medians(const Context& context) const {
  std::vector<double> medians(members_.size());
  parallel_blocks(context.n_threads(), members_.size(), kBlock,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    context.check();
                    for (std::size_t i = begin; i < end; ++i) {
                      require(!members_[i].empty(), "no member has been added");
                      medians[i] = weighted_median(members_[i]);
                    }
                  });
  return medians;
}

}  // namespace arboleda
