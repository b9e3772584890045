// The loops of prediction by codes: see simd/kernels.h for how they are compiled and chosen.
//
// Rows come in blocks of kTreeRows, column by column, a byte a row: a line. An inner node compares all
// rows of a block with its threshold at once, and takes the number of each row's leaf from its left or
// from its right child:
//
//     result[node][row] = code[column][row] <= last ? result[left][row] : result[right][row]
//
// from the lowest nodes up. There are no branches to mispredict.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arboleda {

inline constexpr std::size_t kTreeRows = 256;

// Aligned to a register: one that lies across two cache lines would be read twice.
struct alignas(64) TreeLine {
  std::uint8_t of_row[kTreeRows];
};

// Result lines: line i < kLeafLines stands for a child that is a leaf of number i; it holds that number
// throughout, or nothing where only nodes are evaluated. The others are for inner nodes.
inline constexpr std::size_t kLeafLines = 256;

struct CodedNode {
  std::uint32_t column;               // line of the codes
  std::uint16_t left, right, result;  // result lines
  std::uint8_t last;                  // the largest code that goes left
};

// A set of byte codes: bit c % 32 of word c / 32.
struct CodeSet {
  static constexpr std::size_t kWords = 8;
  std::uint32_t words[kWords];
};

struct CodedTreeKernels {
  // Results of nodes, children before their parents.
  void (*leaf_numbers)(const CodedNode* nodes, std::size_t n, const TreeLine* codes,
                       TreeLine* results);

  // For a tree whose nodes of one level all have the same test; one node per level, n <= 8. Bit n - 1 - l
  // of a row's number is 1 if the row goes right at level l. Only column and last of a node are used.
  void (*level_numbers)(const CodedNode* levels, std::size_t n, const TreeLine* codes,
                        TreeLine* numbers);

  // out[i] = whether the set has codes[i].
  void (*find_codes)(const TreeLine& codes, const CodeSet& set, TreeLine& out);

  // What the first n rows get from each of n_trees <= kSummedTrees trees, in their order:
  // sums[i] += values[t][numbers[t].of_row[i]].
  static constexpr std::size_t kSummedTrees = 4;
  void (*add_values)(const TreeLine* numbers, const double* const* values, std::size_t n_trees,
                     std::size_t n, double* sums);

  // out[i] = codes[i] - first, but at least 0 and at most 255.
  void (*narrow_codes)(const std::uint32_t* codes, std::size_t n, std::uint32_t first,
                       std::uint8_t* out);
};

}  // namespace arboleda
