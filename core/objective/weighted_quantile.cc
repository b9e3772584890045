#include "objective/weighted_quantile.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/key_search.h"

namespace arboleda {

namespace {

// The weight at which the level is reached.
struct Goal {
  double share;        // level * total
  std::uint64_t need;  // the least whole weight that reaches it

  Goal(double level, std::uint64_t total)
      : share(level * static_cast<double>(total)),
        need(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::ceil(share * (1 - 0x1p-50))),
                                       1, total)) {}
  bool is_met_exactly(std::uint64_t weight) const {
    return static_cast<double>(weight) <= share * (1 + 0x1p-50);
  }
};

template <class Item>
std::vector<Item> items_of(const WeightedNumbers& part) {
  std::vector<Item> items;
  items.reserve(part.x.size());
  for (std::size_t i = 0; i < part.x.size(); ++i) {
    if constexpr (std::is_same_v<Item, UnitItem>) {
      items.push_back({search_key(part.x[i])});
    } else if (part.weight.empty() || part.weight[i] > 0) {
      items.push_back({search_key(part.x[i]), part.weight.empty() ? 1 : part.weight[i]});
    }
  }
  return items;
}

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

template <class Item>
double quantile(std::span<const WeightedNumbers> parts, double level, Between between) {
  std::vector<std::vector<Item>> places;
  std::uint64_t total = 0;
  for (const WeightedNumbers& part : parts) {
    places.push_back(items_of<Item>(part));
    for (const Item& item : places.back()) total += item.weight;
  }
  if (total == 0) return 0.0;
  const Goal goal(level, total);
  const KeyCut cut = find_key(std::span(places), KeySearch(goal.need), 1, nullptr);
  const double found = number_of(cut.key);
  if (between == Between::lower || !goal.is_met_exactly(cut.below + cut.at)) return found;
  return std::midpoint(found, number_of(next_key(parts, cut.key)));
}

}  // namespace

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

std::vector<double> weighted_quantiles(const Shards& shards,
                                       std::span<const WeightedNumbers> numbers, double level,
                                       Between between) {
  std::vector<std::vector<WeightedItem>> items;
  std::vector<std::uint64_t> totals, needs;
  for (const WeightedNumbers& part : numbers) {
    items.push_back(items_of<WeightedItem>(part));
    totals.push_back(0);
    for (const WeightedItem& item : items.back()) totals.back() += item.weight;
  }
  shards.add(totals);
  for (const std::uint64_t total : totals) {
    needs.push_back(total == 0 ? 0 : Goal(level, total).need);
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
    if (Goal(level, totals[i]).is_met_exactly(cuts[i].below + cuts[i].at)) {
      found[i] = std::midpoint(found[i], number_of(~above[i]));
    }
  }
  return found;
}

double weighted_quantile(const Shards* shards, std::span<const double> x,
                         std::span<const std::uint64_t> weight, double level, Between between) {
  if (shards == nullptr) return weighted_quantile(x, weight, level, between);
  const WeightedNumbers own{x, weight};
  return weighted_quantiles(*shards, std::span(&own, 1), level, between).front();
}

}  // namespace arboleda
