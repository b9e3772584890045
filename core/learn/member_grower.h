// Grows the members of algorithms that weight rows: one classification tree per round, on integer weights.
#pragma once

#include <optional>
#include <vector>

#include "data/fixed_weights.h"
#include "grow/stump.h"
#include "layout/row_layouts.h"
#include "learn/booster.h"

namespace arboleda {

class MemberGrower {
 public:
  explicit MemberGrower(const BoosterTask& task);

  // growth: that of the task, but for `tree`.
  std::vector<TreeArrays> grow(const FixedWeights& weights, const GrowthOptions& growth);

 private:
  const BoosterTask& task_;
  std::optional<StumpGrower> stumps_;  // where it can grow them
  RowLayouts layouts_;                 // where not
};

}  // namespace arboleda
