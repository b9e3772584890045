#include "split/vector_gradients.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "simd/kernels.h"
#include "tree/leaf_sums.h"

namespace arboleda {

namespace {

// Rows of one task, and of a step of it, whose numbers stay near.
constexpr std::size_t kVectorBlockRows = std::size_t{1} << 12;
constexpr std::size_t kVectorNearRows = 256;

}  // namespace

std::size_t VectorGradients::width_of(std::size_t n_outputs) {
  return (n_outputs + kVectorLanes) / kVectorLanes * kVectorLanes;
}

void VectorGradients::pack(std::span<const RowIndex> rows, const VectorDerivatives& derivatives,
                           const Context& context) {
  const std::size_t n_outputs = derivatives.n_outputs;
  const std::size_t width = width_of(n_outputs);
  reserve_large(packed_, derivatives.n_rows() * width);
  packed_.resize(derivatives.n_rows() * width);
  std::vector<Magnitude> gradients(n_outputs);
  Magnitude hessians;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    gradients[k] = magnitude_of_rows(derivatives.gradient_of(k), rows, context);
    if (k == 0 || derivatives.hessian.size() > derivatives.n_rows()) {
      hessians.see(magnitude_of_rows(derivatives.hessian_of(k), rows, context));
    }
  }
  const bool finite = std::all_of(gradients.begin(), gradients.end(),
                                  [](const Magnitude& largest) { return largest.is_finite(); });
  require(finite && hessians.is_finite(), "a gradient or hessian of the loss is not finite");

  const int bits = bits_of(rows.size());
  gradient_units_.resize(n_outputs);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    gradient_units_[k] = unit_of(gradients[k].value(), bits);
  }
  hessian_unit_ = unit_of(hessians.value(), bits);
  std::vector<PackedTotals> totals = pack_with(rows, derivatives, context);

  const auto enough = kEnoughUnits * static_cast<std::int64_t>(rows.size());
  std::int64_t seen_hessian = 0;
  for (const PackedTotals& of_output : totals) seen_hessian += of_output.seen_hessian;
  bool is_coarse = false;
  if (hessians.value() > 0.0 && seen_hessian < enough * static_cast<std::int64_t>(n_outputs)) {
    hessian_unit_ = unit_of(hessians.value(), kFinestBits);
    is_coarse = true;
  }
  for (std::size_t k = 0; k < n_outputs; ++k) {
    if (gradients[k].value() == 0.0 || totals[k].seen_gradient >= enough) continue;
    gradient_units_[k] = unit_of(gradients[k].value(), kFinestBits);
    is_coarse = true;
  }
  if (is_coarse && bits < kFinestBits) totals = pack_with(rows, derivatives, context);

  totals_.assign(width, {0, static_cast<std::int64_t>(rows.size())});
  std::int64_t largest = 1;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    totals_[k] = {totals[k].gradient, totals[k].hessian};
    largest = std::max({largest, totals[k].largest_gradient, totals[k].largest_hessian});
  }
  largest_ = static_cast<std::size_t>(largest);
}

std::vector<PackedTotals> VectorGradients::pack_with(std::span<const RowIndex> rows,
                                                     const VectorDerivatives& derivatives,
                                                     const Context& context) {
  std::vector<std::vector<PackedTotals>> parts((rows.size() + kVectorBlockRows - 1) /
                                               kVectorBlockRows);
  parallel_blocks(context.n_threads(), rows.size(), kVectorBlockRows,
                  [&](std::size_t block, std::size_t begin, std::size_t end) {
                    parts[block].resize(derivatives.n_outputs);
                    pack_block(rows.subspan(begin, end - begin), derivatives, parts[block]);
                  });
  std::vector<PackedTotals> totals(derivatives.n_outputs);
  for (const auto& part : parts) {
    for (std::size_t k = 0; k < totals.size(); ++k) add_to(totals[k], part[k]);
  }
  return totals;
}

void VectorGradients::pack_block(std::span<const RowIndex> rows,
                                 const VectorDerivatives& derivatives,
                                 std::vector<PackedTotals>& totals) {
  std::array<double, kVectorNearRows> g, h;
  std::array<Packed, kVectorNearRows> packed;
  const auto& loops = kernels().histograms;
  const std::size_t row_width = width();
  for (std::size_t first = 0; first < rows.size(); first += kVectorNearRows) {
    const auto near = rows.subspan(first, std::min(kVectorNearRows, rows.size() - first));
    for (std::size_t k = 0; k < derivatives.n_outputs; ++k) {
      const auto gradient = derivatives.gradient_of(k);
      const auto hessian = derivatives.hessian_of(k);
      for (std::size_t i = 0; i < near.size(); ++i) g[i] = gradient[near[i]];
      if (!hessian.empty()) {
        for (std::size_t i = 0; i < near.size(); ++i) h[i] = hessian[near[i]];
      }
      loops.pack(g.data(), hessian.empty() ? nullptr : h.data(), near.size(),
                 1.0 / gradient_units_[k], 1.0 / hessian_unit_, packed.data());
      for (std::size_t i = 0; i < near.size(); ++i) packed_[near[i] * row_width + k] = packed[i];
      add_to(totals[k], loops.total(packed.data(), near.size(), kSeenUnits));
    }
    for (const RowIndex row : near) {
      for (std::size_t k = derivatives.n_outputs; k < row_width; ++k) {
        packed_[row * row_width + k] = 1;
      }
    }
  }
}

}  // namespace arboleda
