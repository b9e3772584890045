// Quantiles and means of the leaves of a tree whose rows lie in several shards: of all leaves at once.
#include <numeric>
#include <utility>
#include <vector>

#include "base/key_search.h"
#include "objective/row_objective.h"
#include "objective/weighted_quantile.h"

namespace arboleda {

std::vector<double> weighted_quantiles(const Shards& shards,
                                       std::span<const WeightedNumbers> numbers, double level,
                                       Between between) {
  std::vector<std::vector<WeightedItem>> items;
  std::vector<std::uint64_t> totals, needs;
  for (const WeightedNumbers& part : numbers) {
    items.emplace_back();
    totals.push_back(0);
    for (std::size_t i = 0; i < part.x.size(); ++i) {
      const std::uint64_t weight = part.weight.empty() ? 1 : part.weight[i];
      if (weight > 0) items.back().push_back({search_key(part.x[i]), weight});
      totals.back() += weight;
    }
  }
  shards.add(totals);
  for (const std::uint64_t total : totals) {
    needs.push_back(total == 0 ? 0 : QuantileGoal(level, total).need);
  }
  const std::vector<KeyCut> cuts = find_keys(items, needs, shards);
  std::vector<double> found;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    found.push_back(totals[i] == 0 ? 0.0 : number_of(cuts[i].key));
  }
  if (between == Between::lower) return found;

  // The least of the numbers above each is the largest complement of a key; of none, there is no key so large.
  std::vector<std::uint64_t> above;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::uint64_t next = next_key(numbers.subspan(i, 1), cuts[i].key);
    above.push_back(next == cuts[i].key ? 0 : ~next);
  }
  shards.maximum(above);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (totals[i] == 0 || above[i] == 0) continue;
    if (QuantileGoal(level, totals[i]).is_met_exactly(cuts[i].below + cuts[i].at)) {
      found[i] = std::midpoint(found[i], number_of(~above[i]));
    }
  }
  return found;
}

std::vector<double> RowObjective::residual_quantiles(
    std::span<const double> scores, std::size_t output,
    std::span<const std::span<const RowIndex>> leaves, double level, const UnitsOf& units) const {
  std::vector<std::vector<double>> numbers;
  std::vector<std::vector<std::uint64_t>> weights;
  std::vector<WeightedNumbers> parts;
  for (const auto rows : leaves) {
    numbers.push_back(residuals(scores, output, rows));
    weights.push_back(units(rows));
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) parts.push_back({numbers[i], weights[i]});
  return weighted_quantiles(*shards(), parts, level, Between::lower);
}

std::vector<double> RowObjective::weighted_means(
    std::span<const std::vector<double>> x,
    std::span<const std::span<const RowIndex>> leaves) const {
  std::vector<Magnitude> largest;
  for (std::size_t i = 0; i < leaves.size(); ++i) largest.push_back(largest_of(x[i], leaves[i]));
  see_all(shards(), largest);
  std::vector<ExactSum> sums;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const WeightedSum own = sum_of(x[i], leaves[i], SumScale(largest[i]));
    sums.insert(sums.end(), own.begin(), own.end());
  }
  add_all(shards(), std::span(sums));
  std::vector<double> means;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const auto of_leaf = std::span(std::as_const(sums)).subspan(2 * i).first<2>();
    means.push_back(of_leaf[1].units() > 0 ? mean_of(SumScale(largest[i]), of_leaf) : 0.0);
  }
  return means;
}

}  // namespace arboleda
