// Members of a boosted ensemble, as Python holds them.
#pragma once

#include "tree/forest.h"
#include "tree/member_votes.h"

namespace arboleda::python {

// A forest whose trees vote with weights. The forest outlives it.
struct WeightedForest {
  const Forest* forest;
  MemberVotes votes;
};

}  // namespace arboleda::python
