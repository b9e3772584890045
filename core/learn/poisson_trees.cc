#include "criterion/poisson.h"
#include "learn/grow_targets.h"

namespace arboleda {

const RegressionTrees kPoissonTrees = kMeanTrees<Poisson>;

}  // namespace arboleda
