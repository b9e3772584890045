// A forest as bytes and back. docs/model_file.md has the layout.
#pragma once

#include "io/bytes.h"
#include "tree/forest.h"

namespace arboleda {

void append_forest(Bytes& out, const Forest& forest);

// Throws Error(bad_format) unless `bytes`, which begin at byte `at` of their file, are one forest.
// max_features: as in read_tree.
Forest read_forest(ByteView bytes, std::size_t at, std::size_t max_features);

}  // namespace arboleda
