#include "base/shards.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/ordered_key.h"

namespace arboleda {

namespace {

constexpr int kLimbBits = 43;
constexpr std::uint64_t kLimbMask = (std::uint64_t{1} << kLimbBits) - 1;

}  // namespace

void write_limbs(Int128 number, std::uint64_t* limbs) {
  auto rest = static_cast<UInt128>(number);
  for (std::size_t i = 0; i < kLimbs; ++i, rest >>= kLimbBits) {
    limbs[i] = static_cast<std::uint64_t>(rest) & kLimbMask;
  }
}

Int128 read_limbs(const std::uint64_t* limbs) {
  UInt128 number = 0;
  for (std::size_t i = kLimbs; i-- > 0;) number = (number << kLimbBits) + limbs[i];
  return static_cast<Int128>(number);
}

std::vector<std::uint64_t> Shards::gather(std::span<const std::uint64_t> own) const {
  std::vector<std::uint64_t> all(own.size() * count_);
  std::copy(own.begin(), own.end(),
            all.begin() + static_cast<std::ptrdiff_t>(own.size() * number_));
  add(all);
  return all;
}

void add_all(const Shards* shards, std::span<ExactSum> sums) {
  if (shards == nullptr || sums.empty()) return;
  std::vector<std::uint64_t> limbs(kLimbs * sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) write_limbs(sums[i].units(), &limbs[kLimbs * i]);
  shards->add(limbs);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = ExactSum(read_limbs(&limbs[kLimbs * i]));
}

std::uint64_t sum_of_all(const Shards* shards, std::uint64_t own) {
  add_all(shards, std::span(&own, 1));
  return own;
}

std::vector<std::uint64_t> join_all(const Shards* shards, std::vector<std::uint64_t> own) {
  if (shards == nullptr) return own;
  const std::uint64_t size = own.size();
  const std::vector<std::uint64_t> sizes = shards->gather(std::span(&size, 1));
  const auto own_size = sizes.begin() + static_cast<std::ptrdiff_t>(shards->number());
  const auto first = std::accumulate(sizes.begin(), own_size, std::uint64_t{0});
  std::vector<std::uint64_t> all(std::accumulate(own_size, sizes.end(), first));
  std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(first));
  shards->add(all);
  return all;
}

void see_range(const Shards* shards, double& low, double& high) {
  if (shards == nullptr) return;
  std::array<std::uint64_t, 2> ends{~word_of_key(ordered_key(low)), word_of_key(ordered_key(high))};
  shards->maximum(ends);
  low = value_of_key(key_of_word(~ends[0]));
  high = value_of_key(key_of_word(ends[1]));
}

void see_all(const Shards* shards, std::span<Magnitude> largest) {
  if (shards == nullptr) return;
  std::vector<std::uint64_t> bits;
  for (const Magnitude& own : largest) bits.push_back(own.bits());
  shards->maximum(bits);
  for (std::size_t i = 0; i < bits.size(); ++i) largest[i].see_bits(bits[i]);
}

double exact_sum(const Shards* shards, std::span<const double> x) {
  Magnitude largest = magnitude_of(x);
  see_all(shards, std::span(&largest, 1));
  const SumScale scale(largest);
  ExactSum sum;
  for (const double v : x) sum.add(scale, v);
  add_all(shards, std::span(&sum, 1));
  return sum.to_real(scale);
}

}  // namespace arboleda
