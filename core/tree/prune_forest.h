// Cost-complexity pruning of every tree of a forest.
#pragma once

#include "tree/forest.h"

namespace arboleda {

// Each tree pruned by itself (tree/prune.h). Where training rows are kept, a node that becomes a leaf
// has those of the leaves below it.
Forest pruned(const Forest& forest, double alpha);

}  // namespace arboleda
