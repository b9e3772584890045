// The result lines that the inner nodes of a tree take in turn (simd/coded_tree_kernels.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simd/coded_tree_kernels.h"

namespace arboleda {

// Those that are not in use, the lowest first.
class FreeLines {
 public:
  std::uint16_t take() {
    const auto free = std::find(used_.begin(), used_.end(), false);
    const auto line = static_cast<std::size_t>(free - used_.begin());
    if (free == used_.end()) used_.push_back(false);
    used_[line] = true;
    return static_cast<std::uint16_t>(kLeafLines + line);
  }
  void give_back(std::uint16_t line) {
    if (line >= kLeafLines) used_[line - kLeafLines] = false;
  }
  std::size_t n_lines() const { return kLeafLines + used_.size(); }

 private:
  std::vector<bool> used_;
};

}  // namespace arboleda
