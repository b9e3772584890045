#include "simd/math_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "simd/kernels.h"

namespace arboleda {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double uniform(RandomStream& random, double low, double high) {
  return low + (high - low) * std::ldexp(static_cast<double>(random.next()), -32);
}

std::vector<double> grid(double low, double high, std::size_t n, RandomStream& random) {
  std::vector<double> x(n);
  for (auto& v : x) v = uniform(random, low, high);
  return x;
}

// Distance in units of the last place of `truth`.
double ulps(double value, long double truth) {
  const auto nearest = static_cast<double>(truth);
  const double unit = std::nextafter(std::abs(nearest), kInf) - std::abs(nearest);
  return static_cast<double>(std::abs(static_cast<long double>(value) - truth) /
                             static_cast<long double>(unit));
}

using Function = void (*)(const double*, std::size_t, double*);

template <class Truth>
double worst_error(Function f, const std::vector<double>& x, const Truth& truth) {
  std::vector<double> out(x.size());
  f(x.data(), x.size(), out.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, ulps(out[i], truth(static_cast<long double>(x[i]))));
  }
  return worst;
}

double value(Function f, double x) {
  double out = 7.0;
  f(&x, 1, &out);
  return out;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  });
}

}  // namespace

TEST_CASE("exp, log and softplus are what long double gives, to the last place or two" *
          doctest::test_suite("one thread")) {
  RandomStream random(3, Purpose::feature_subset, 0, 0);
  const MathKernels& math = kernels().math;
  const auto exp_l = [](long double x) { return std::exp(x); };
  const auto log_l = [](long double x) { return std::log(x); };
  const auto softplus_l = [](long double x) {
    return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x)));
  };
  CHECK(worst_error(math.exp, grid(-708.0, 709.7, 200000, random), exp_l) <= 1.0);
  CHECK(worst_error(math.exp, grid(-1.0, 1.0, 200000, random), exp_l) <= 1.0);
  CHECK(worst_error(math.exp, grid(-746.0, -708.0, 100000, random), exp_l) <= 2.0);
  CHECK(worst_error(math.exp, grid(-1e-15, 1e-15, 1000, random), exp_l) <= 1.0);
  CHECK(worst_error(math.softplus, grid(-700.0, 700.0, 200000, random), softplus_l) <= 2.0);
  CHECK(worst_error(math.softplus, grid(-3.0, 3.0, 200000, random), softplus_l) <= 2.0);
  CHECK(worst_error(math.log, grid(0.5, 2.0, 200000, random), log_l) <= 1.0);
  std::vector<double> wide = grid(1.0, 2.0, 200000, random);
  for (auto& v : wide) v = std::ldexp(v, static_cast<int>(random.below(2098)) - 1074);
  CHECK(worst_error(math.log, wide, log_l) <= 1.0);
}

TEST_CASE("the edges of exp, log and softplus") {
  const double nan = std::nan("");
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  for (const Kernels* level : all_kernels()) {
    CAPTURE(std::string(level->level));
    const MathKernels& math = level->math;
    CHECK(value(math.exp, 0.0) == 1.0);
    CHECK(value(math.exp, -0.0) == 1.0);
    CHECK(value(math.exp, kInf) == kInf);
    CHECK(value(math.exp, 709.79) == kInf);
    CHECK(value(math.exp, 709.78) < kInf);
    CHECK(value(math.exp, 1e300) == kInf);
    CHECK(value(math.exp, -745.2) == 0.0);
    CHECK(value(math.exp, -745.0) == kTiny);
    CHECK(value(math.exp, -1e300) == 0.0);
    CHECK(value(math.exp, -kInf) == 0.0);
    CHECK(std::isnan(value(math.exp, nan)));
    CHECK(value(math.log, 1.0) == 0.0);
    CHECK(value(math.log, 0.0) == -kInf);
    CHECK(value(math.log, kInf) == kInf);
    CHECK(value(math.log, kTiny) == doctest::Approx(-744.4400719213812));
    CHECK(std::isnan(value(math.log, -1.0)));
    CHECK(std::isnan(value(math.log, nan)));
    CHECK(value(math.softplus, 800.0) == 800.0);
    CHECK(value(math.softplus, -800.0) == 0.0);
    CHECK(value(math.softplus, kInf) == kInf);
    CHECK(value(math.softplus, -kInf) == 0.0);
    CHECK(std::isnan(value(math.softplus, nan)));
  }
}

TEST_CASE("every level gives the same bits, one number at a time or many") {
  RandomStream random(4, Purpose::feature_subset, 0, 0);
  std::vector<double> x = grid(-800.0, 800.0, 1003, random);
  for (const double edge : {0.0, -0.0, kInf, -kInf, std::nan(""), 1e-310, -37.5}) x.push_back(edge);
  std::vector<double> y(x.size());
  for (auto& v : y) v = random.below(2);
  const Function MathKernels::* functions[] = {&MathKernels::exp, &MathKernels::log,
                                               &MathKernels::softplus};
  for (const auto function : functions) {
    std::vector<double> first;
    for (const double v : x) first.push_back(value(all_kernels().front()->math.*function, v));
    for (const Kernels* level : all_kernels()) {
      std::vector<double> out = x;  // in place
      (level->math.*function)(out.data(), out.size(), out.data());
      CHECK(same_bits(out, first));
    }
  }
  std::vector<double> g0(x.size()), h0(x.size()), g(x.size()), h(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    all_kernels().front()->math.logistic(&x[i], &y[i], 1, &g0[i], &h0[i]);
  }
  for (const Kernels* level : all_kernels()) {
    level->math.logistic(x.data(), y.data(), x.size(), g.data(), h.data());
    CHECK(same_bits(g, g0));
    CHECK(same_bits(h, h0));
  }
}

TEST_CASE("logistic gradients lose nothing where a row is all but certain") {
  const auto x = [] {
    RandomStream random(5, Purpose::feature_subset, 0, 0);
    return grid(-700.0, 700.0, 10000, random);
  }();
  std::vector<double> g(x.size()), h(x.size());
  for (const double label : {0.0, 1.0}) {
    const std::vector<double> y(x.size(), label);
    kernels().math.logistic(x.data(), y.data(), x.size(), g.data(), h.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto f = static_cast<long double>(x[i]);
      const long double miss = 1.0L / (1.0L + std::exp(label > 0.0 ? f : -f));
      REQUIRE(ulps(g[i], label > 0.0 ? -miss : miss) <= 4.0);
      REQUIRE(ulps(h[i], miss / (1.0L + std::exp(label > 0.0 ? -f : f))) <= 6.0);
    }
  }
}

TEST_CASE("softmax gradients are those of the definition, at every level the same") {
  RandomStream random(6, Purpose::feature_subset, 0, 0);
  for (const std::size_t n_classes : {std::size_t{2}, std::size_t{3}, std::size_t{10}}) {
    const std::size_t n = kSoftmaxBlock, stride = n + 3;
    std::vector<double> score(n_classes * stride), y(n);
    for (auto& f : score) f = std::round(uniform(random, -40.0, 40.0));  // ties as well
    for (auto& v : y) v = random.below(static_cast<std::uint32_t>(n_classes));
    std::vector<double> g0, h0;
    for (const Kernels* level : all_kernels()) {
      std::vector<double> g(score.size()), h(score.size());
      level->math.softmax(score.data(), stride, n_classes, y.data(), n, g.data(), h.data());
      if (g0.empty()) {
        g0 = g;
        h0 = h;
      }
      CHECK(same_bits(g, g0));
      CHECK(same_bits(h, h0));
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n_classes; ++k) {
        const auto f = [&](std::size_t c) {
          return static_cast<long double>(score[c * stride + i]);
        };
        long double others = 0.0L;  // relative to exp f_k
        for (std::size_t c = 0; c < n_classes; ++c) others += c == k ? 0.0L : std::exp(f(c) - f(k));
        const long double p = 1.0L / (1.0L + others), not_p = others / (1.0L + others);
        const std::size_t at = k * stride + i;
        REQUIRE(ulps(g0[at], y[i] == static_cast<double>(k) ? -not_p : p) <= 8.0);
        REQUIRE(ulps(h0[at], p * not_p) <= 12.0);
      }
    }
  }
}

}  // namespace arboleda
