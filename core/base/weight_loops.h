// Weights in fixed point; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

double largest_weight(const double* weights, std::size_t n) {
  // The bits of numbers that are not negative compare like the numbers; those of all others are larger.
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = __builtin_bit_cast(std::uint64_t, weights[i] + 0.0);  // 0.0 for -0.0
    largest = bits > largest ? bits : largest;
  }
  constexpr std::uint64_t kInfinity = 0x7FF0000000000000;
  return largest < kInfinity ? __builtin_bit_cast(double, largest) : __builtin_nan("");
}

std::uint64_t round_weights(const double* weights, std::size_t n, const WeightScale& scale,
                            std::uint64_t* out) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x =
        weights[i] * scale.factor[0] * scale.factor[1] * scale.factor[2] * scale.factor[3];
    const auto below = static_cast<std::int64_t>(x);
    const std::int64_t up = x - static_cast<double>(below) >= 0.5;
    out[i] = static_cast<std::uint64_t>(below + up);
    sum += out[i];
  }
  return sum;
}

WeightSummary summary(const std::uint64_t* units, std::size_t n) {
  std::uint64_t sum = 0, largest = 0, n_zero = 0;
  std::uint64_t smallest = UINT64_MAX;  // less 1; so that 0 is the largest
  for (std::size_t i = 0; i < n; ++i) {
    sum += units[i];
    largest = units[i] > largest ? units[i] : largest;
    smallest = units[i] - 1 < smallest ? units[i] - 1 : smallest;
    n_zero += units[i] == 0;
  }
  return {sum, n_zero == n ? UINT64_MAX : smallest + 1, largest, n - n_zero};
}

constexpr WeightKernels kWeightKernels{largest_weight, round_weights, summary};

}  // namespace

}  // namespace arboleda
