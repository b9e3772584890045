#include "split/packed_gradients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "simd/kernels.h"
#include "tree/leaf_sums.h"

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

int bits_of(std::size_t n_rows) {
  const int row_bits = std::min(static_cast<int>(std::bit_width(n_rows)), kBlockBits);
  return std::min(kSumBits - row_bits, kFinestBits);
}

double unit_of(double largest, int bits) {
  if (largest == 0.0) return 1.0;
  int exponent = 0;
  if (std::frexp(largest, &exponent) == 0.5) --exponent;
  // No unit so small that 1/unit leaves float64.
  return std::ldexp(1.0, std::max(exponent - bits, -1000));
}

void PackedGradients::pack(std::span<const RowIndex> rows, std::span<const double> gradient,
                           std::span<const double> hessian, const Context& context) {
  reserve_large(packed_, gradient.size());
  packed_.resize(gradient.size());
  const Magnitude gradients = magnitude_of_rows(gradient, rows, context);
  const Magnitude hessians = magnitude_of_rows(hessian, rows, context);
  require(gradients.is_finite() && hessians.is_finite(),
          "a gradient or hessian of the loss is not finite");
  gradient_scale_ = SumScale(gradients);
  hessian_scale_ = SumScale(hessians);
  const double most_gradient = gradients.value();
  const double most_hessian = hessians.value();
  const int bits = bits_of(rows.size());
  gradient_unit_ = unit_of(most_gradient, bits);
  hessian_unit_ = unit_of(most_hessian, bits);
  PackedTotals totals = pack_with(rows, gradient, hessian, context);
  const auto enough = kEnoughUnits * static_cast<std::int64_t>(rows.size());
  const bool coarse_gradient = most_gradient > 0.0 && totals.seen_gradient < enough;
  const bool coarse_hessian = most_hessian > 0.0 && totals.seen_hessian < enough;
  if (bits < kFinestBits && (coarse_gradient || coarse_hessian)) {
    if (coarse_gradient) gradient_unit_ = unit_of(most_gradient, kFinestBits);
    if (coarse_hessian) hessian_unit_ = unit_of(most_hessian, kFinestBits);
    totals = pack_with(rows, gradient, hessian, context);
  }
  total_ = {totals.gradient, totals.hessian};
  largest_hessian_ = totals.largest_hessian;
  largest_ = static_cast<std::size_t>(std::max(totals.largest_gradient, totals.largest_hessian));
}

PackedTotals PackedGradients::pack_with(std::span<const RowIndex> rows,
                                        std::span<const double> gradient,
                                        std::span<const double> hessian, const Context& context) {
  std::vector<PackedTotals> parts((rows.size() + kBlockRows - 1) / kBlockRows);
  const bool all = rows.size() == gradient.size();
  const auto pack_block = [&](std::size_t block, std::size_t begin, std::size_t end) {
    parts[block] = all ? pack_all(gradient, hessian, begin, end)
                       : pack_rows(rows.subspan(begin, end - begin), gradient, hessian);
  };
  parallel_blocks(context.n_threads(), rows.size(), kBlockRows, pack_block);
  PackedTotals totals;
  for (const PackedTotals& part : parts) add_to(totals, part);
  return totals;
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
                                        std::span<const double> gradient,
                                        std::span<const double> hessian) {
  constexpr std::size_t kNear = 256;
  std::array<double, kNear> g, h;
  std::array<Packed, kNear> packed;
  const auto& loops = kernels().histograms;
  PackedTotals totals;
  for (std::size_t first = 0; first < rows.size(); first += kNear) {
    const auto near = rows.subspan(first, std::min(kNear, rows.size() - first));
    for (std::size_t i = 0; i < near.size(); ++i) g[i] = gradient[near[i]];
    if (!hessian.empty()) {
      for (std::size_t i = 0; i < near.size(); ++i) h[i] = hessian[near[i]];
    }
    loops.pack(g.data(), hessian.empty() ? nullptr : h.data(), near.size(), 1.0 / gradient_unit_,
               1.0 / hessian_unit_, packed.data());
    for (std::size_t i = 0; i < near.size(); ++i) packed_[near[i]] = packed[i];
    add_to(totals, loops.total(packed.data(), near.size(), kSeenUnits));
  }
  return totals;
}

}  // namespace arboleda
