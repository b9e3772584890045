// Splits of two classes; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

ClassTotals totals(const std::uint64_t* weight, const std::uint32_t* labels, std::size_t n) {
  std::uint64_t whole = 0, second = 0, n_rows = 0;
  for (std::size_t i = 0; i < n; ++i) {
    whole += weight[i];
    second += weight[i] & (std::uint64_t{0} - labels[i]);
    n_rows += weight[i] != 0;
  }
  return {whole, second, n_rows};
}

PackedWeights pack(const std::uint64_t* weight, const std::uint32_t* labels, std::size_t n,
                   double scale, PackedWeights* out) {
  PackedWeights sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double units = static_cast<double>(static_cast<std::int64_t>(weight[i])) * scale;
    const auto rounded = static_cast<PackedWeights>(static_cast<std::int64_t>(units + 0.5));
    out[i] = rounded << 32 | (rounded & (PackedWeights{0} - labels[i]));
    sum += out[i];
  }
  return sum;
}

// Of a total: what is the same for all its splits.
struct GainScale {
  std::int32_t whole, second;
  float unit, p;
};

inline GainScale gain_scale(PackedWeights total) {
  const auto whole = static_cast<std::int32_t>(total >> 32);
  const auto second = static_cast<std::int32_t>(total & 0xFFFFFFFFU);
  const float unit = 1.0F / static_cast<float>(whole);
  return {whole, second, unit, static_cast<float>(second) * unit};
}

inline float gain_of(PackedWeights sum, const GainScale& of) {
  const auto left = static_cast<std::int32_t>(sum >> 32);
  const auto left_second = static_cast<std::int32_t>(sum & 0xFFFFFFFFU);
  const std::int32_t right = of.whole - left;
  // The difference of two sides is told best by the smaller one.
  const bool small_left = left < right;
  const std::int32_t small = small_left ? left : right;
  const std::int32_t large = small_left ? right : left;
  const std::int32_t of_small = small_left ? left_second : of.second - left_second;
  const float a = static_cast<float>(small) * of.unit;
  const float d = static_cast<float>(of_small) * of.unit - of.p * a;
  const float b = static_cast<float>(large) * of.unit;
  const float explained = d * d / (a * b);
  return small > 0 ? explained : 0.0F;
}

// Gains are not negative, so their bits compare like the numbers.
inline std::int32_t gain_bits(float gain) { return __builtin_bit_cast(std::int32_t, gain); }

inline float largest_gain(std::int32_t bits) {
  return bits < 0 ? -1.0F : __builtin_bit_cast(float, bits);
}

float gains(const PackedWeights* sums, std::size_t n, PackedWeights total, float* out) {
  const GainScale scale = gain_scale(total);
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = gain_of(sums[i], scale);
    const std::int32_t bits = gain_bits(out[i]);
    largest = bits > largest ? bits : largest;
  }
  return largest_gain(largest);
}

float bounds(const PackedWeights* sums, std::size_t n_blocks, PackedWeights before,
             PackedWeights total, float* out) {
  const GainScale scale = gain_scale(total);
  std::int32_t largest = -1;
  for (std::size_t b = 0; b < n_blocks; ++b) {
    const PackedWeights none = sums[b] + before;
    const PackedWeights all = sums[b + 1] + before;
    const PackedWeights second = (all - none) & 0xFFFFFFFFU;
    const PackedWeights of_second = second << 32 | second;
    const std::int32_t at_none = gain_bits(gain_of(none, scale));
    const std::int32_t at_all = gain_bits(gain_of(all, scale));
    const std::int32_t second_first = gain_bits(gain_of(none + of_second, scale));
    const std::int32_t first_first = gain_bits(gain_of(all - of_second, scale));
    const std::int32_t ends = at_none > at_all ? at_none : at_all;
    const std::int32_t corners = second_first > first_first ? second_first : first_first;
    out[b] = __builtin_bit_cast(float, ends > corners ? ends : corners);
    largest = at_all > largest ? at_all : largest;
  }
  return largest_gain(largest);
}

void side_sums(const StumpRows& rows, const double* weight, double scale, std::int64_t* sums) {
  const auto [leaf, labels, n] = rows;
  std::int64_t whole = 0, left = 0, second = 0, left_second = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto units = static_cast<std::int64_t>(weight[i] * scale);
    const std::int64_t on_left = -std::int64_t{leaf[i] == 1};
    const std::int64_t is_second = -std::int64_t{labels[i]};
    whole += units;
    left += units & on_left;
    second += units & is_second;
    left_second += units & on_left & is_second;
  }
  sums[0] += left - left_second;
  sums[1] += left_second;
  sums[2] += (whole - second) - (left - left_second);
  sums[3] += second - left_second;
}

void multiply_sides(const StumpRows& rows, const double* factor, double least, double* weight) {
  const auto [leaf, labels, n] = rows;
  const double left[] = {factor[0], factor[1]};
  const double right[] = {factor[2], factor[3]};
  for (std::size_t i = 0; i < n; ++i) {
    const bool on_left = leaf[i] == 1;
    const double of_first = on_left ? left[0] : right[0];
    const double of_second = on_left ? left[1] : right[1];
    const double w = weight[i];
    const double x = w * (labels[i] == 0 ? of_first : of_second);
    const double kept = x < least ? least : x;
    weight[i] = w > 0.0 ? kept : 0.0;
  }
}

constexpr StumpKernels kStumpKernels{totals, pack, gains, bounds, side_sums, multiply_sides};

}  // namespace

}  // namespace arboleda
