#include "objective/weighted_quantile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace arboleda {

namespace {

// Keys order as the numbers do; -0 and 0 are one, and NaN has its place as well.
std::uint64_t key_of(double x) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double number_of(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

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

// The number at `place` of its kind; those behind it are not less.
double result(std::uint64_t key, bool average, const auto& behind, const auto& key_of_item) {
  if (!average || behind.empty()) return number_of(key);
  std::uint64_t next = ~std::uint64_t{0};
  for (const auto& item : behind) next = std::min(next, key_of_item(item));
  return std::midpoint(number_of(key), number_of(next));
}

double unit_quantile(std::span<const double> x, double level, Between between) {
  std::vector<std::uint64_t> keys(x.size());
  std::transform(x.begin(), x.end(), keys.begin(), key_of);
  const Goal goal(level, keys.size());
  const auto place = keys.begin() + static_cast<std::ptrdiff_t>(goal.need - 1);
  std::nth_element(keys.begin(), place, keys.end());
  return result(*place, between == Between::midway && goal.is_met_exactly(goal.need),
                std::span(place + 1, keys.end()), [](std::uint64_t key) { return key; });
}

struct Item {
  std::uint64_t key, weight;
};

}  // namespace

double weighted_quantile(std::span<const double> x, std::span<const std::uint64_t> weight,
                         double level, Between between) {
  if (x.empty()) return 0.0;
  if (weight.empty()) return unit_quantile(x, level, between);
  std::vector<Item> items;
  items.reserve(x.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (weight[i] == 0) continue;
    items.push_back({key_of(x[i]), weight[i]});
    total += weight[i];
  }
  if (items.empty()) return 0.0;

  // The item that reaches the goal stands in [low, high); those before have weight `below`.
  const Goal goal(level, total);
  auto low = items.begin(), high = items.end();
  std::uint64_t below = 0;
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, [](const Item& a, const Item& b) { return a.key < b.key; });
    std::uint64_t half = 0;
    for (auto item = low; item != middle; ++item) half += item->weight;
    if (below + half >= goal.need) {
      high = middle;
    } else {
      below += half;
      low = middle;
    }
  }
  return result(low->key, between == Between::midway && goal.is_met_exactly(below + low->weight),
                std::span(low + 1, items.end()), [](const Item& item) { return item.key; });
}

}  // namespace arboleda
