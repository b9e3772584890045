#include "objective/weighted_quantile.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/key_search.h"

namespace arboleda {

namespace {

template <class Item>
std::vector<Item> items_of(const WeightedNumbers& part) {
  std::vector<Item> items;
  items.reserve(part.x.size());
  for (std::size_t i = 0; i < part.x.size(); ++i) {
    if constexpr (std::is_same_v<Item, UnitItem>) {
      items.push_back({search_key(part.x[i])});
    } else if (part.weight[i] > 0) {
      items.push_back({search_key(part.x[i]), part.weight[i]});
    }
  }
  return items;
}

template <class Item>
double quantile(std::span<const WeightedNumbers> parts, double level, Between between) {
  std::vector<std::vector<Item>> places;
  std::uint64_t total = 0;
  for (const WeightedNumbers& part : parts) {
    places.push_back(items_of<Item>(part));
    for (const Item& item : places.back()) total += item.weight;
  }
  if (total == 0) return 0.0;
  const QuantileGoal goal(level, total);
  const KeyCut cut = find_key(std::span(places), KeySearch(goal.need), 1, nullptr);
  const double found = number_of(cut.key);
  if (between == Between::lower || !goal.is_met_exactly(cut.below + cut.at)) return found;
  return std::midpoint(found, number_of(next_key(parts, cut.key)));
}

}  // namespace

// The smallest key above another of the numbers that have weight, or that key itself.
std::uint64_t next_key(std::span<const WeightedNumbers> parts, std::uint64_t key) {
  std::uint64_t next = ~std::uint64_t{0};
  bool found = false;
  for (const WeightedNumbers& part : parts) {
    for (std::size_t i = 0; i < part.x.size(); ++i) {
      const std::uint64_t other = search_key(part.x[i]);
      if (other <= key || (!part.weight.empty() && part.weight[i] == 0)) continue;
      next = std::min(next, other);
      found = true;
    }
  }
  return found ? next : key;
}

double weighted_quantile(std::span<const WeightedNumbers> parts, double level, Between between) {
  const bool is_weighted = std::any_of(
      parts.begin(), parts.end(), [](const WeightedNumbers& part) { return !part.weight.empty(); });
  return is_weighted ? quantile<WeightedItem>(parts, level, between)
                     : quantile<UnitItem>(parts, level, between);
}

double weighted_quantile(std::span<const double> x, std::span<const std::uint64_t> weight,
                         double level, Between between) {
  const WeightedNumbers all{x, weight};
  return weighted_quantile(std::span(&all, 1), level, between);
}

double weighted_quantile(const Shards* shards, std::span<const double> x,
                         std::span<const std::uint64_t> weight, double level, Between between) {
  if (shards == nullptr) return weighted_quantile(x, weight, level, between);
  const WeightedNumbers own{x, weight};
  return weighted_quantiles(*shards, std::span(&own, 1), level, between).front();
}

}  // namespace arboleda
