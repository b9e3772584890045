// Counter-based random numbers: a value is a pure function of a key and a counter, so it does not
// depend on which thread draws it, or when.
//
// Philox 4x32 with ten rounds: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw (2011),
// "Parallel random numbers: as easy as 1, 2, 3", SC'11. The tests hold the known answers of that
// paper's reference distribution.
#pragma once

#include <array>
#include <cstdint>

namespace arboleda {

// What a stream of random numbers is for. Part of the key, so streams never overlap.
enum class Purpose : std::uint32_t {
  feature_subset = 1,
  random_split = 2,
  tree_columns = 3,
  level_columns = 4,
  row_sample = 5,
  dropped_round = 6,
  bag = 7,
  bag_columns = 8,
  label_switch = 9,
  permuted_column = 10,
  bart_chain = 11,
  gradient_sketch = 12,
  ranking_loss = 13,
  fold = 14,  // this and the next: src/arboleda/_base/row_words.py
  target_statistic = 15,
};

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key);

// The stream of one (seed, purpose, tree, node).
//   key     = seed (64 bits)
//   counter = block | purpose (8 bits) and tree (24 bits) | node key (64 bits)
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t tree, std::uint64_t node);

  std::uint32_t next();

  // Uniform on [0, bound) without bias; bound > 0. Lemire (2019), "Fast random integer generation
  // in an interval", ACM TOMACS 29(1).
  std::uint32_t below(std::uint32_t bound);

  // Uniform on [0, 1): a multiple of 2^-53.
  double uniform();

  // Where the stream is, for code that computes many blocks of four numbers at once
  // (simd/random_blocks.h) and then skips them. Only before next().
  const PhiloxKey& key() const { return key_; }
  const PhiloxCounter& counter() const { return counter_; }
  void skip_blocks(std::uint32_t n_blocks) { counter_[0] += n_blocks; }

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  unsigned used_ = 4;
};

// A bijection that scatters its input: the finaliser of SplitMix64. Steele, Lea, Flood (2014), "Fast
// splittable pseudorandom number generators", OOPSLA.
constexpr std::uint64_t scatter(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// The same for the many short streams of a forest's nodes: SplitMix64 from a scattered key. A number
// costs a tenth of RandomStream's.
class QuickStream {
 public:
  // root: what all nodes of a tree share, by root().
  QuickStream(std::uint64_t root, std::uint64_t node) : state_(scatter(root ^ node)) {}
  static constexpr std::uint64_t root(std::uint64_t seed, Purpose purpose, std::uint32_t tree) {
    return scatter(seed ^ scatter(std::uint64_t{static_cast<std::uint32_t>(purpose)} << 32 | tree));
  }

  std::uint32_t next() { return static_cast<std::uint32_t>(next_64() >> 32); }

  // Uniform on [0, bound) without bias; bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t rejected = (0u - bound) % bound;
      while (static_cast<std::uint32_t>(product) < rejected) {
        product = std::uint64_t{next()} * bound;
      }
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform on [0, 1): a multiple of 2^-53.
  double uniform() { return static_cast<double>(next_64() >> 11) * 0x1p-53; }

 private:
  std::uint64_t next_64() {
    const std::uint64_t z = scatter(state_);
    state_ += 0x9E3779B97F4A7C15ULL;
    return z;
  }

  std::uint64_t state_;
};

// A random word for each row of a table, from the row's number alone: whoever holds the row draws the same.
// Word i of a SplitMix64 sequence that begins at a scattered root.
class RowWords {
 public:
  RowWords(std::uint64_t seed, Purpose purpose, std::uint32_t round)
      : root_(QuickStream::root(seed, purpose, round)) {}
  std::uint64_t operator()(std::uint64_t row) const {
    return scatter(root_ + row * 0x9E3779B97F4A7C15ULL);
  }

 private:
  std::uint64_t root_;
};

// The key of a child from the key of its parent: depends on the path from the root only, so every
// order of growing gives a node the same random numbers.
std::uint64_t child_key(std::uint64_t parent_key, bool is_left);

// The key of one feature at a node, for streams that each feature has of its own.
std::uint64_t feature_key(std::uint64_t node_key, std::uint32_t feature);

}  // namespace arboleda
