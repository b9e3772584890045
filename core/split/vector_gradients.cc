#include "split/vector_gradients.h"

#include <algorithm>
#include <array>
#include <bit>

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

// Bits in place of `bits` so that `seen` units, the sum over rows, become enough.
int finer_bits(int bits, std::int64_t seen, std::int64_t enough, int most) {
  const auto missing = static_cast<std::uint64_t>(enough / std::max<std::int64_t>(seen, 1));
  return std::min(bits + static_cast<int>(std::bit_width(missing)), most);
}

}  // namespace

std::size_t VectorGradients::width_of(std::size_t n_outputs) {
  return (n_outputs + kVectorLanes) / kVectorLanes * kVectorLanes;
}

void VectorGradients::pack(std::span<const RowIndex> rows, const VectorDerivatives& derivatives,
                           std::size_t least_block, const Context& context) {
  const std::size_t n_outputs = derivatives.n_outputs;
  const std::size_t width = width_of(n_outputs);
  reserve_large(packed_, derivatives.n_rows() * width);
  packed_.resize(derivatives.n_rows() * width);
  n_rows_ = rows.size();
  has_hessian_ = !derivatives.hessian.empty();
  gradients_.assign(n_outputs, {});
  hessians_.assign(derivatives.hessian.size() > derivatives.n_rows() ? n_outputs : 1, {});
  parallel_for(context.n_threads(), n_outputs, [&](std::size_t k, int) {
    const Context alone = context.of_one_task();
    gradients_[k] = magnitude_of_rows(derivatives.gradient_of(k), rows, alone);
    if (k < hessians_.size()) {
      hessians_[k] = magnitude_of_rows(derivatives.hessian_of(k), rows, alone);
    }
  });
  if (context.shards() != nullptr) see_shards(*context.shards());
  require(n_rows_ > 0, "a tree needs at least one row");
  Magnitude hessians;
  for (const Magnitude& largest : hessians_) hessians.see(largest);
  const bool finite = std::all_of(gradients_.begin(), gradients_.end(),
                                  [](const Magnitude& largest) { return largest.is_finite(); });
  require(finite && hessians.is_finite(), "a gradient or hessian of the loss is not finite");

  const int bits = bits_of(n_rows_);
  gradient_units_.resize(n_outputs);
  for (std::size_t k = 0; k < n_outputs; ++k) {
    gradient_units_[k] = unit_of(gradients_[k].value(), bits);
  }
  hessian_unit_ = unit_of(hessians.value(), bits);
  std::vector<PackedTotals> totals = pack_with(rows, derivatives, context);

  const int finest = std::clamp(kSumBits - static_cast<int>(std::bit_width(least_block)), bits,
                                finest_bits_of(n_rows_));
  const auto enough = kEnoughUnits * static_cast<std::int64_t>(n_rows_);
  const auto enough_hessian = enough * static_cast<std::int64_t>(n_outputs);
  std::int64_t seen_hessian = 0;
  bool is_coarse = hessians.value() > 0.0;
  for (const PackedTotals& of_output : totals) seen_hessian += of_output.seen_hessian;
  is_coarse = is_coarse && seen_hessian < enough_hessian;
  if (is_coarse) {
    hessian_unit_ =
        unit_of(hessians.value(), finer_bits(bits, seen_hessian, enough_hessian, finest));
  }
  for (std::size_t k = 0; k < n_outputs; ++k) {
    if (gradients_[k].value() == 0.0 || totals[k].seen_gradient >= enough) continue;
    gradient_units_[k] =
        unit_of(gradients_[k].value(), finer_bits(bits, totals[k].seen_gradient, enough, finest));
    is_coarse = true;
  }
  if (is_coarse && bits < finest) totals = pack_with(rows, derivatives, context);

  totals_.assign(width, {0, static_cast<std::int64_t>(n_rows_)});
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
  add_all(context.shards(), std::span(totals));
  return totals;
}

// What the units depend on. Of a shard without rows, this cannot be told from its arrays: neither whether
// there are hessians, nor whether each output has its own.
void VectorGradients::see_shards(const Shards& shards) {
  const std::size_t n_outputs = gradients_.size();
  std::vector<std::uint64_t> most(2 * n_outputs + 2);
  const auto bits = [](const Magnitude& largest) { return largest.bits(); };
  std::transform(gradients_.begin(), gradients_.end(), most.begin(), bits);
  std::transform(hessians_.begin(), hessians_.end(),
                 most.begin() + static_cast<std::ptrdiff_t>(n_outputs), bits);
  most[2 * n_outputs] = has_hessian_ ? 1 : 0;
  most[2 * n_outputs + 1] = hessians_.size();
  shards.maximum(most);
  has_hessian_ = most[2 * n_outputs] > 0;
  hessians_.resize(static_cast<std::size_t>(most.back()));
  for (std::size_t k = 0; k < n_outputs; ++k) gradients_[k].see_bits(most[k]);
  for (std::size_t k = 0; k < hessians_.size(); ++k) hessians_[k].see_bits(most[n_outputs + k]);
  n_rows_ = sum_of_all(&shards, n_rows_);
}

// As many outputs at a time as lie side by side in a row.
void VectorGradients::pack_block(std::span<const RowIndex> rows,
                                 const VectorDerivatives& derivatives,
                                 std::vector<PackedTotals>& totals) {
  std::array<double, kVectorNearRows> g, h;
  std::array<std::array<Packed, kVectorNearRows>, kVectorLanes> packed;
  const auto& loops = kernels().histograms;
  const std::size_t row_width = width();
  for (std::size_t first = 0; first < rows.size(); first += kVectorNearRows) {
    const auto near = rows.subspan(first, std::min(kVectorNearRows, rows.size() - first));
    const bool in_order = near.back() - near.front() + 1 == near.size();
    const auto side_by_side = [&](std::span<const double> values, auto& copy) {
      if (in_order) return &values[near.front()];
      for (std::size_t i = 0; i < near.size(); ++i) copy[i] = values[near[i]];
      return static_cast<const double*>(copy.data());
    };
    for (std::size_t k = 0; k < row_width; ++k) {
      auto& numbers = packed[k % kVectorLanes];
      if (k < derivatives.n_outputs) {
        const auto hessian = derivatives.hessian_of(k);
        loops.pack(side_by_side(derivatives.gradient_of(k), g),
                   hessian.empty() ? nullptr : side_by_side(hessian, h), near.size(),
                   1.0 / gradient_units_[k], 1.0 / hessian_unit_, numbers.data());
        add_to(totals[k], loops.total(numbers.data(), near.size(), kSeenUnits));
      } else {
        std::fill_n(numbers.begin(), near.size(), Packed{1});
      }
      if ((k + 1) % kVectorLanes != 0) continue;
      for (std::size_t i = 0; i < near.size(); ++i) {
        Packed* out = &packed_[near[i] * row_width + k + 1 - kVectorLanes];
        for (std::size_t lane = 0; lane < kVectorLanes; ++lane) out[lane] = packed[lane][i];
      }
    }
  }
}

}  // namespace arboleda
