#include "split/packed_gradients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr std::size_t kBlockRows = std::size_t{1} << 14;

}  // namespace

void add_to(PackedTotals& totals, const PackedTotals& part) {
  totals.gradient += part.gradient;
  totals.seen_gradient += part.seen_gradient;
  totals.seen_hessian += part.seen_hessian;
  totals.hessian += part.hessian;
  totals.largest_gradient = std::max(totals.largest_gradient, part.largest_gradient);
  totals.largest_hessian = std::max(totals.largest_hessian, part.largest_hessian);
}

int bits_of(std::uint64_t n_rows) {
  const int row_bits = std::min(static_cast<int>(std::bit_width(n_rows)), kBlockBits);
  return std::min(kSumBits - row_bits, kFinestBits);
}

int finest_bits_of(std::uint64_t n_rows) {
  return std::min(kFinestBits, 62 - static_cast<int>(std::bit_width(n_rows - 1)));
}

void add_all(const Shards* shards, std::span<PackedTotals> totals) {
  if (shards == nullptr) return;
  std::vector<std::uint64_t> own;
  for (const PackedTotals& t : totals) {
    for (const std::int64_t number : {t.gradient, t.hessian, t.seen_gradient, t.seen_hessian,
                                      t.largest_gradient, t.largest_hessian}) {
      own.push_back(static_cast<std::uint64_t>(number));
    }
  }
  const std::vector<std::uint64_t> all = shards->gather(own);
  std::fill(totals.begin(), totals.end(), PackedTotals{});
  auto next = all.begin();
  const auto read = [&next] { return static_cast<std::int64_t>(*next++); };
  while (next != all.end()) {
    for (PackedTotals& sum : totals) {
      PackedTotals part;
      for (std::int64_t* number :
           {&part.gradient, &part.hessian, &part.seen_gradient, &part.seen_hessian,
            &part.largest_gradient, &part.largest_hessian}) {
        *number = read();
      }
      add_to(sum, part);
    }
  }
}

double unit_of(double largest, int bits) {
  if (largest == 0.0) return 1.0;
  int exponent = 0;
  if (std::frexp(largest, &exponent) == 0.5) --exponent;
  // No unit so small that 1/unit leaves float64.
  return std::ldexp(1.0, std::max(exponent - bits, -1000));
}

void PackedGradients::pack(std::span<const RowIndex> rows, const RowDerivatives& derivatives,
                           const Context& context) {
  reserve_large(packed_, derivatives.n_rows());
  packed_.resize(derivatives.n_rows());
  auto [gradients, hessians] = magnitudes_of_rows(derivatives, rows, context);
  n_rows_ = rows.size();
  has_hessian_ = derivatives.has_hessian();
  if (context.shards() != nullptr) see_shards(*context.shards(), gradients, hessians);
  require(n_rows_ > 0, "a tree needs at least one row");
  require(gradients.is_finite() && hessians.is_finite(),
          "a gradient or hessian of the loss is not finite");
  gradient_scale_ = SumScale(gradients);
  hessian_scale_ = SumScale(hessians);
  const double most_gradient = gradients.value();
  const double most_hessian = hessians.value();
  const int bits = bits_of(n_rows_);
  const int finest = finest_bits_of(n_rows_);
  gradient_unit_ = unit_of(most_gradient, bits);
  hessian_unit_ = unit_of(most_hessian, bits);
  PackedTotals totals = pack_with(rows, derivatives, context);
  const auto enough = kEnoughUnits * static_cast<std::int64_t>(n_rows_);
  const bool coarse_gradient = most_gradient > 0.0 && totals.seen_gradient < enough;
  const bool coarse_hessian = most_hessian > 0.0 && totals.seen_hessian < enough;
  if (bits < finest && (coarse_gradient || coarse_hessian)) {
    if (coarse_gradient) gradient_unit_ = unit_of(most_gradient, finest);
    if (coarse_hessian) hessian_unit_ = unit_of(most_hessian, finest);
    totals = pack_with(rows, derivatives, context);
  }
  total_ = {totals.gradient, totals.hessian};
  largest_hessian_ = totals.largest_hessian;
  largest_ = static_cast<std::size_t>(std::max(totals.largest_gradient, totals.largest_hessian));
  fit_near_ = rows.size() == derivatives.n_rows() && totals.largest_gradient <= INT16_MAX &&
              totals.largest_hessian <= UINT16_MAX;
}

PackedTotals PackedGradients::pack_with(std::span<const RowIndex> rows,
                                        const RowDerivatives& derivatives, const Context& context) {
  std::vector<PackedTotals> parts((rows.size() + kBlockRows - 1) / kBlockRows);
  const bool all = derivatives.computed == nullptr && rows.size() == derivatives.n_rows();
  const auto pack_block = [&](std::size_t block, std::size_t begin, std::size_t end) {
    parts[block] = all ? pack_all(derivatives.gradient, derivatives.hessian, begin, end)
                       : pack_rows(rows.subspan(begin, end - begin), derivatives);
  };
  parallel_blocks(context.n_threads(), rows.size(), kBlockRows, pack_block);
  PackedTotals totals;
  for (const PackedTotals& part : parts) add_to(totals, part);
  add_all(context.shards(), std::span(&totals, 1));
  return totals;
}

// What the units depend on. A shard without rows has no hessians, whether all are 1 or not.
void PackedGradients::see_shards(const Shards& shards, Magnitude& gradients, Magnitude& hessians) {
  const std::array<std::uint64_t, 4> own{gradients.bits(), hessians.bits(), n_rows_,
                                         has_hessian_ ? 1U : 0U};
  const std::vector<std::uint64_t> all = shards.gather(own);
  n_rows_ = 0;
  for (std::size_t i = 0; i < all.size(); i += own.size()) {
    gradients.see_bits(all[i]);
    hessians.see_bits(all[i + 1]);
    n_rows_ += all[i + 2];
    has_hessian_ |= all[i + 3] > 0;
  }
}

PackedTotals PackedGradients::pack_all(std::span<const double> gradient,
                                       std::span<const double> hessian, std::size_t begin,
                                       std::size_t end) {
  const auto& loops = kernels().histograms;
  loops.pack(&gradient[begin], hessian.empty() ? nullptr : &hessian[begin], end - begin,
             1.0 / gradient_unit_, 1.0 / hessian_unit_, &packed_[begin]);
  return loops.total(&packed_[begin], end - begin, kSeenUnits);
}

// Through arrays that stay near: the loops want rows side by side.
PackedTotals PackedGradients::pack_rows(std::span<const RowIndex> rows,
                                        const RowDerivatives& derivatives) {
  std::array<double, kReadRows> g, h;
  std::array<Packed, kReadRows> packed;
  const auto& loops = kernels().histograms;
  PackedTotals totals;
  for (std::size_t first = 0; first < rows.size(); first += kReadRows) {
    const auto near = rows.subspan(first, std::min(kReadRows, rows.size() - first));
    read_derivatives(derivatives, near, g.data(), h.data());
    loops.pack(g.data(), derivatives.has_hessian() ? h.data() : nullptr, near.size(),
               1.0 / gradient_unit_, 1.0 / hessian_unit_, packed.data());
    for (std::size_t i = 0; i < near.size(); ++i) packed_[near[i]] = packed[i];
    add_to(totals, loops.total(packed.data(), near.size(), kSeenUnits));
  }
  return totals;
}

}  // namespace arboleda
