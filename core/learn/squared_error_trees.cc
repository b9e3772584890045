#include "criterion/squared_error.h"
#include "learn/grow_targets.h"

namespace arboleda {

const RegressionTrees kSquaredErrorTrees = kMeanTrees<SquaredError>;

}  // namespace arboleda
