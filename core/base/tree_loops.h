// The loops of base/tree_kernels.h; included by base/kernels_loops.h only, under its rules.

namespace arboleda {

namespace {

// A register of bytes. A wider one would be taken apart byte by byte.
#if defined(__AVX512BW__)
constexpr std::size_t kTreeBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kTreeBytes = 32;
#else
constexpr std::size_t kTreeBytes = 16;
#endif
using TreeBytes = std::uint8_t __attribute__((vector_size(kTreeBytes)));

inline void read_line(const std::uint8_t* at, TreeBytes& bytes) {
  __builtin_memcpy(&bytes, at, sizeof bytes);
}

void leaf_numbers(const CodedNode* nodes, std::size_t n, const TreeLine* codes, TreeLine* answers) {
  for (std::size_t i = 0; i < n; ++i) {
    const CodedNode node = nodes[i];
    const TreeBytes last = TreeBytes{} + node.last;
    const std::uint8_t* column = codes[node.column].of_row;
    const std::uint8_t* left = answers[node.left].of_row;
    const std::uint8_t* right = answers[node.right].of_row;
    std::uint8_t* out = answers[node.answer].of_row;
    for (std::size_t at = 0; at < kTreeRows; at += kTreeBytes) {
      TreeBytes code, yes, no;
      read_line(column + at, code);
      read_line(left + at, yes);
      read_line(right + at, no);
      const TreeBytes chosen = code <= last ? yes : no;
      __builtin_memcpy(out + at, &chosen, sizeof chosen);
    }
  }
}

void level_numbers(const CodedNode* levels, std::size_t n, const TreeLine* codes,
                   TreeLine* numbers) {
  for (std::size_t at = 0; at < kTreeRows; at += kTreeBytes) {
    TreeBytes number{};
    for (std::size_t l = 0; l < n; ++l) {
      TreeBytes code;
      read_line(codes[levels[l].column].of_row + at, code);
      const TreeBytes last = TreeBytes{} + levels[l].last;
      number += number;
      number -= reinterpret_cast<TreeBytes>(code > last);
    }
    __builtin_memcpy(numbers->of_row + at, &number, sizeof number);
  }
}

void find_codes(const TreeLine& codes, const CodeSet& set, TreeLine& out) {
  for (std::size_t i = 0; i < kTreeRows; ++i) {
    const std::uint8_t code = codes.of_row[i];
    out.of_row[i] = static_cast<std::uint8_t>((set.words[code / 32] >> (code % 32)) & 1);
  }
}

void add_values(const std::uint8_t* numbers, std::size_t n, const double* values, double* sums) {
  for (std::size_t i = 0; i < n; ++i) sums[i] += values[numbers[i]];
}

void narrow_codes(const std::uint32_t* codes, std::size_t n, std::uint32_t first,
                  std::uint8_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t above = codes[i] < first ? 0 : codes[i] - first;
    out[i] = static_cast<std::uint8_t>(above < 255 ? above : 255);
  }
}

constexpr TreeKernels kTreeKernels{leaf_numbers, level_numbers, find_codes, add_values,
                                   narrow_codes};

}  // namespace

}  // namespace arboleda
