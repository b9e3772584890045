// Gains of splits of two classes; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

float gains(const PackedWeights* sums, std::size_t n, PackedWeights total, float* out) {
  const auto whole = static_cast<std::int32_t>(total >> 32);
  const auto second = static_cast<std::int32_t>(total & 0xFFFFFFFFU);
  const float unit = 1.0F / static_cast<float>(whole);
  const float p = static_cast<float>(second) * unit;
  // Gains are not negative, so their bits compare like the numbers.
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const auto left = static_cast<std::int32_t>(sums[i] >> 32);
    const auto left_second = static_cast<std::int32_t>(sums[i] & 0xFFFFFFFFU);
    const std::int32_t right = whole - left;
    // The difference of two sides is told best by the smaller one.
    const bool small_left = left < right;
    const std::int32_t small = small_left ? left : right;
    const std::int32_t large = small_left ? right : left;
    const std::int32_t of_small = small_left ? left_second : second - left_second;
    const float a = static_cast<float>(small) * unit;
    const float d = static_cast<float>(of_small) * unit - p * a;
    const float b = static_cast<float>(large) * unit;
    const float explained = d * d / (a * b);
    const float gain = small > 0 ? explained : 0.0F;
    out[i] = gain;
    const auto bits = __builtin_bit_cast(std::int32_t, gain);
    largest = bits > largest ? bits : largest;
  }
  return largest < 0 ? -1.0F : __builtin_bit_cast(float, largest);
}

constexpr StumpKernels kStumpKernels{gains};

}  // namespace

}  // namespace arboleda
