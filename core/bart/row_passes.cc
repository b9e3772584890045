#include "bart/row_passes.h"

#include <algorithm>
#include <cstddef>

namespace arboleda {

namespace {

// Neighbouring rows are mostly of the same leaf: sums of four rows in turn do not wait for each other.
constexpr std::size_t kTurns = 4;

struct UnitSums {
  std::array<std::array<std::int64_t, kMostBartLeaves>, kTurns> residual;
  std::array<std::array<std::uint32_t, kMostBartLeaves>, kTurns> n_rows;

  explicit UnitSums(std::size_t n_numbers) {
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      std::fill_n(residual[turn].begin(), n_numbers, 0);
      std::fill_n(n_rows[turn].begin(), n_numbers, 0u);
    }
  }
  void add(std::size_t turn, std::uint8_t leaf, std::int32_t x) {
    residual[turn][leaf] += x;
    ++n_rows[turn][leaf];
  }
  void write(std::size_t n_numbers, LeafSumTable& sums) const {
    for (std::size_t leaf = 0; leaf < n_numbers; ++leaf) {
      std::int64_t sum = 0;
      std::uint64_t rows = 0;
      for (std::size_t turn = 0; turn < kTurns; ++turn) {
        sum += residual[turn][leaf];
        rows += n_rows[turn][leaf];
      }
      sums[leaf] = {static_cast<double>(rows), static_cast<double>(sum)};
    }
  }
};

// visit(i, turn) for all rows.
template <class Visit>
void in_turns(std::size_t n, const Visit& visit) {
  std::size_t i = 0;
  for (; i + kTurns <= n; i += kTurns) {
    for (std::size_t turn = 0; turn < kTurns; ++turn) visit(i + turn, turn);
  }
  for (; i < n; ++i) visit(i, 0);
}

// new residual of row i: move(i)
template <class Move>
void sum_rows(std::size_t n, const std::uint8_t* leaf, std::span<const double> weight,
              std::size_t n_numbers, LeafSumTable& sums, const Move& move) {
  if (weight.empty()) {
    UnitSums units(n_numbers);
    in_turns(n, [&](std::size_t i, std::size_t turn) { units.add(turn, leaf[i], move(i)); });
    units.write(n_numbers, sums);
    return;
  }
  std::fill_n(sums.begin(), n_numbers, LeafSums{});
  for (std::size_t i = 0; i < n; ++i) {  // doubles: in the order of rows
    LeafSums& sum = sums[leaf[i]];
    sum.weight += weight[i];
    sum.residual += weight[i] * static_cast<double>(move(i));
  }
}

}  // namespace

void split_rows(LeafNumbers& leaf, std::uint8_t from, std::uint8_t to, const RuleColumn& column,
                const Rule& rule) {
  std::visit(
      [&]<class T>(const std::vector<T>& codes) {
        const T* code = codes.data();
        std::uint8_t* at = leaf.data();
        const std::size_t n = leaf.size();
        const auto cut = static_cast<T>(rule.cut);
        const auto missing = static_cast<T>(column.get_missing_code());
        const bool missing_right = !rule.missing_left;
        const auto split = [&](const auto& goes_right) {
          for (std::size_t i = 0; i < n; ++i) {
            at[i] = ((at[i] == from) & goes_right(code[i])) ? to : at[i];
          }
        };
        if (column.is_categorical) {
          split([&](T c) { return c == missing ? missing_right : c != cut; });
        } else if (missing_right || !column.has_missing) {  // the missing code is above all cuts
          split([&](T c) { return c > cut; });
        } else {
          split([&](T c) { return (c > cut) & (c != missing); });
        }
      },
      column.codes);
}

void move_rows(LeafNumbers& leaf, std::uint8_t from, std::uint8_t to) {
  for (std::uint8_t& at : leaf) at = at == from ? to : at;
}

std::size_t count_rows(const LeafNumbers& leaf, std::uint8_t number) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < leaf.size(); begin += 255) {  // what a byte counts
    const std::size_t end = std::min(leaf.size(), begin + 255);
    std::uint8_t some = 0;
    for (std::size_t i = begin; i < end; ++i) {
      some = static_cast<std::uint8_t>(some + (leaf[i] == number ? 1 : 0));
    }
    count += some;
  }
  return count;
}

void advance(std::span<std::int32_t> residual, const LeafNumbers& before, const LeafValues& minus,
             const LeafNumbers& leaf, const LeafValues& plus, std::span<const double> weight,
             std::size_t n_numbers, LeafSumTable& sums) {
  std::int32_t* r = residual.data();
  const std::uint8_t* was = before.data();
  const std::uint8_t* is = leaf.data();
  sum_rows(residual.size(), is, weight, n_numbers, sums, [&](std::size_t i) {
    r[i] += plus[is[i]] - minus[was[i]];
    return r[i];
  });
}

void sum_by_leaf(std::span<const std::int32_t> residual, const LeafNumbers& leaf,
                 std::span<const double> weight, std::size_t n_numbers, LeafSumTable& sums) {
  sum_rows(residual.size(), leaf.data(), weight, n_numbers, sums,
           [&](std::size_t i) { return residual[i]; });
}

}  // namespace arboleda
