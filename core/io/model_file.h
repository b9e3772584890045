// The model file: a header of text that the caller writes and reads, trees, forests, and named arrays of
// numbers. docs/model_file.md has the layout, byte by byte, and the promises.
//
//     preamble | header, text | checksum | section | section | ... | end, checksum of the whole
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "io/bytes.h"
#include "tree/ensemble.h"
#include "tree/forest.h"
#include "tree/tree.h"

namespace arboleda {

inline constexpr std::uint32_t kModelFormatVersion = 1;
inline constexpr std::size_t kPreambleSize = 32;

struct NamedArray {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::variant<std::vector<double>, std::vector<std::int64_t>> numbers;  // row-major
};

struct ModelFile {
  std::string header;
  std::vector<Tree> trees;
  std::vector<Forest> forests;
  std::vector<NamedArray> arrays;
};

// The same parts give the same bytes, on every machine.
Bytes write_model(const std::string& header, const std::vector<const Tree*>& trees,
                  const std::vector<NamedArray>& arrays,
                  const std::vector<const Forest*>& forests = {});

// These throw Error(bad_format), which states what is wrong and where, for every file that
// write_model did not make, and take memory in proportion to the file's length at most.
ModelFile read_model(ByteView file);

// Checks a file by its first kPreambleSize bytes (fewer only if the file is shorter) and its size,
// before it is read, and returns how many bytes reach to the end of the header and its checksum.
std::uint64_t check_preamble(ByteView begin, std::uint64_t file_size);

// The header of a file of which that many bytes are given.
std::string read_model_header(ByteView begin);

// A tree with the head and checksum that it has in a model file, alone: what a pickle holds.
Bytes write_tree_section(const Tree& tree);
Tree read_tree_section(ByteView section);

// The same for a forest.
Bytes write_forest_section(const Forest& forest);
Forest read_forest_section(ByteView section);

// The same for trees that add up: their start as an array, then the trees, then their linear leaves.
Bytes write_ensemble_sections(const TreeEnsemble& ensemble);
TreeEnsemble read_ensemble_sections(ByteView sections);

}  // namespace arboleda
