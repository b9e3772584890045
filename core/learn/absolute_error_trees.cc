#include <cstdint>

#include "base/types.h"
#include "criterion/absolute_error.h"
#include "learn/grow_targets.h"

namespace arboleda {

namespace {

TreeArrays grow(const TreeTask& task, const RegressionTargets& targets) {
  return targets.narrow ? grow_targets<AbsoluteError<std::int64_t>>(task, targets)
                        : grow_targets<AbsoluteError<Int128>>(task, targets);
}

}  // namespace

const RegressionTrees kAbsoluteErrorTrees = {grow, grow_target_outputs<AbsoluteError<Int128>>};

}  // namespace arboleda
