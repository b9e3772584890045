// A tree for a table that has some of the columns alone: what a member of random subspaces is by
// itself. Nothing of the tree changes but the numbers of its features.
#pragma once

#include <span>

#include "tree/tree.h"

namespace arboleda {

// The tree that refers to its columns by their place in `columns`. Throws Error(invalid_argument) unless
// these are ascending numbers of the tree's columns and include all that it tests.
Tree on_columns(const Tree& tree, std::span<const FeatureIndex> columns);

}  // namespace arboleda
