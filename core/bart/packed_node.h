// A node of a tree that was drawn, in 64 bits. Trees stand in preorder, one behind the other.
//
//     bits   0 - 31   leaf: its value, in units (signed);  inner node: the cut of its rule
//           32 - 40   inner node: how many nodes further the right child stands; 0: a leaf
//                41   whether missing values go left
//           42 - 61   the column
#pragma once

#include <bit>
#include <cstdint>

#include "bart/rule_columns.h"

namespace arboleda {

class PackedNode {
 public:
  static constexpr FeatureIndex kMostFeatures = 1 << 20;
  static constexpr std::int64_t kMostToRight = 511;

  explicit PackedNode(std::int64_t bits) : bits_(static_cast<std::uint64_t>(bits)) {}
  static PackedNode leaf(std::int32_t value) {
    return PackedNode(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value)));
  }
  static PackedNode inner(const Rule& rule, std::int64_t to_right) {
    return PackedNode(static_cast<std::int64_t>(
        std::uint64_t{rule.cut} | static_cast<std::uint64_t>(to_right) << 32 |
        std::uint64_t{rule.missing_left} << 41 | static_cast<std::uint64_t>(rule.feature) << 42));
  }

  std::int64_t bits() const { return static_cast<std::int64_t>(bits_); }
  bool is_leaf() const { return to_right() == 0; }
  bool is_valid() const { return bits_ >> 62 == 0 && (!is_leaf() || bits_ >> 32 == 0); }
  std::int32_t value() const { return std::bit_cast<std::int32_t>(number()); }
  std::int64_t to_right() const { return static_cast<std::int64_t>(bits_ >> 32 & 511); }
  Rule rule() const {
    return {static_cast<FeatureIndex>(bits_ >> 42 & (kMostFeatures - 1)), number(),
            (bits_ >> 41 & 1) != 0};
  }

 private:
  std::uint32_t number() const { return static_cast<std::uint32_t>(bits_); }

  std::uint64_t bits_;
};

}  // namespace arboleda
