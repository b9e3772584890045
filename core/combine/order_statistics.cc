#include "combine/order_statistics.h"

#include <cstring>

#include "base/compiler.h"
#include "combine/shares.h"

namespace arboleda {

namespace {

// Two places of which the smaller number has to come first.
struct Comparison {
  std::size_t low, high;
};

// Batcher's odd-even merge sort (Knuth 1998, volume 3, section 5.3.4): comparisons that order any n
// numbers. They do not depend on the numbers, so many cells are ordered at the same time.
std::vector<Comparison> sorting_network(std::size_t n) {
  std::vector<Comparison> network;
  for (std::size_t p = 1; p < n; p *= 2) {
    for (std::size_t k = p; k >= 1; k /= 2) {
      for (std::size_t j = k % p; j + k < n; j += 2 * k) {
        for (std::size_t i = 0; i < std::min(k, n - j - k); ++i) {
          if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) network.push_back({i + j, i + j + k});
        }
      }
    }
  }
  return network;
}

// Only the comparisons on which one of the places first .. last depends, the last ones first looked at.
std::vector<Comparison> needed(const std::vector<Comparison>& network, std::size_t n,
                               std::size_t first, std::size_t last) {
  std::vector<char> wanted(n, 0);
  std::fill(wanted.begin() + static_cast<std::ptrdiff_t>(first),
            wanted.begin() + static_cast<std::ptrdiff_t>(last) + 1, char{1});
  std::vector<Comparison> kept;
  for (auto at = network.rbegin(); at != network.rend(); ++at) {
    if (!wanted[at->low] && !wanted[at->high]) continue;
    wanted[at->low] = wanted[at->high] = 1;
    kept.push_back(*at);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

// Lanes that every 64-bit x86 and ARM has: memory is the limit, not wider ones.
using Lanes = NumberVector<double, 16>;
using LaneBits = NumberVector<std::int64_t, 16>;

// Makes low[c] the smaller of the two and high[c] the larger: bits change places where high < low.
void order(double* low, double* high, std::size_t n) {
  constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(double);
  std::size_t c = 0;
  for (; c + kLanes <= n; c += kLanes) {
    Lanes a, b;
    std::memcpy(&a, low + c, sizeof a);
    std::memcpy(&b, high + c, sizeof b);
    const LaneBits change = (ARBOLEDA_RECAST(a, LaneBits) ^ ARBOLEDA_RECAST(b, LaneBits)) & (b < a);
    a = ARBOLEDA_RECAST(ARBOLEDA_RECAST(a, LaneBits) ^ change, Lanes);
    b = ARBOLEDA_RECAST(ARBOLEDA_RECAST(b, LaneBits) ^ change, Lanes);
    std::memcpy(low + c, &a, sizeof a);
    std::memcpy(high + c, &b, sizeof b);
  }
  for (; c < n; ++c) {
    const double a = low[c], b = high[c];
    low[c] = b < a ? b : a;
    high[c] = b < a ? a : b;
  }
}

// Mean of the numbers at the places first .. last of the order, for every cell of a block.
class MiddleMean {
 public:
  MiddleMean(const Members& members, std::size_t first, std::size_t last)
      : members_(members),
        first_(first),
        last_(last),
        network_(needed(sorting_network(members.size()), members.size(), first, last)),
        tile_(std::clamp<std::size_t>(kTileCells / members.size(), kLeastTile, kBlockCells)) {}

  void put(const OutputBlock& block) const {
    std::vector<double> tile(members_.size() * tile_);
    for (std::size_t begin = 0; begin < block.n_cells(); begin += tile_) {
      const std::size_t n = std::min(tile_, block.n_cells() - begin);
      put(block.first_cell() + begin, n, tile.data(), block.out + begin);
    }
  }

 private:
  // Cells in the first cache, and neighbours that are ordered together in any case.
  static constexpr std::size_t kTileCells = std::size_t{1} << 12;
  static constexpr std::size_t kLeastTile = 16;

  void put(std::size_t cell, std::size_t n, double* tile, double* out) const {
    for (std::size_t l = 0; l < members_.size(); ++l) {
      const double* outputs = members_.outputs[l] + cell;
      std::copy(outputs, outputs + n, tile + l * tile_);
    }
    for (const Comparison& pair : network_) {
      order(tile + pair.low * tile_, tile + pair.high * tile_, n);
    }
    for (std::size_t l = first_; l <= last_; ++l) {
      const double* ordered = tile + l * tile_;
      for (std::size_t c = 0; c < n; ++c) out[c] += ordered[c];
    }
    const auto number = static_cast<double>(last_ - first_ + 1);
    for (std::size_t c = 0; c < n; ++c) out[c] /= number;
  }

  const Members& members_;
  std::size_t first_, last_;
  std::vector<Comparison> network_;
  std::size_t tile_;
};

template <class Better>
void put_extreme(const Members& members, const OutputBlock& block, const Better& better) {
  const double* first = members.outputs[0] + block.first_cell();
  std::copy(first, first + block.n_cells(), block.out);
  for (std::size_t l = 1; l < members.size(); ++l) {
    const double* outputs = members.outputs[l] + block.first_cell();
    for (std::size_t c = 0; c < block.n_cells(); ++c) {
      block.out[c] = better(outputs[c], block.out[c]) ? outputs[c] : block.out[c];
    }
  }
}

template <class Put>
std::vector<double> combine(const Members& members, const OrderRule& rule, const Context& context,
                            const Put& put) {
  return for_row_blocks(members.n_rows, members.n_classes, context, [&](const OutputBlock& block) {
    put(block);
    if (rule.as_shares) divide_by_sum(block, members);
  });
}

}  // namespace

std::vector<double> order_statistic_of_members(const Members& members, const OrderRule& rule,
                                               const Context& context) {
  require(members.size() > 0, "an order needs at least one member");
  switch (rule.statistic) {
    case OrderStatistic::minimum:
      return combine(members, rule, context, [&](const OutputBlock& block) {
        put_extreme(members, block, [](double a, double b) { return a < b; });
      });
    case OrderStatistic::maximum:
      return combine(members, rule, context, [&](const OutputBlock& block) {
        put_extreme(members, block, [](double a, double b) { return a > b; });
      });
    case OrderStatistic::median:
    case OrderStatistic::trimmed:
      break;
  }
  const bool median = rule.statistic == OrderStatistic::median;
  const std::size_t first = median ? (members.size() - 1) / 2 : rule.n_trimmed;
  require(2 * first < members.size(), "a trimmed mean leaves at least one member");
  const MiddleMean middle(members, first, members.size() - 1 - first);
  return combine(members, rule, context, [&](const OutputBlock& block) { middle.put(block); });
}

}  // namespace arboleda
