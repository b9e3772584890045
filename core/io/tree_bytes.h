// A tree as bytes and back. docs/model_file.md has the layout.
#pragma once

#include "io/bytes.h"
#include "tree/tree.h"

namespace arboleda {

void append_tree(Bytes& out, const Tree& tree);

// Throws Error(bad_format) unless `bytes`, which begin at byte `at` of their file, are one tree.
// max_features: the most columns that the file can be about, so that nothing sized by the number of
// columns takes more memory than the file accounts for.
Tree read_tree(ByteView bytes, std::size_t at, std::size_t max_features);

}  // namespace arboleda
