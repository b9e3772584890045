// The loop of base/flag_kernels.h; included by base/kernels_loops.h only, under its rules.
//
// A row's flags are masks: one instruction gives its weight to as many columns as a register has
// bytes. Rows are taken in chunks of at most 255 in weight, so that no byte overflows, and classes two
// by two, so that their sums stay in registers.

namespace arboleda {

namespace {

constexpr std::size_t kFlagsAhead = 8;  // rows from now whose flags are fetched
constexpr std::size_t kChunk = 255;     // rows, and their weight
constexpr std::size_t kFlagBytes = 64;

using FlagBytes = std::uint8_t __attribute__((vector_size(64)));

// What each row of a chunk gives to one line of the sums.
inline void weigh(const ClassEntry* entries, std::size_t n, std::size_t line, std::size_t n_classes,
                  std::uint8_t* weights) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t own = entries[i].label == line ? entries[i].weight : std::uint16_t{0};
    weights[i] = static_cast<std::uint8_t>(line == n_classes ? 1 : own);
  }
}

inline void put(const FlagBytes& bytes, bool is_first, std::uint32_t* __restrict total) {
  std::uint8_t part[kFlagBytes];
  __builtin_memcpy(part, &bytes, kFlagBytes);
  if (is_first) {
    for (std::size_t j = 0; j < kFlagBytes; ++j) total[j] = part[j];
  } else {
    for (std::size_t j = 0; j < kFlagBytes; ++j) total[j] += part[j];
  }
}

// Two lines of the sums, `total` and the one after it (null: one line only).
void add_chunk(const FlagRows& table, const RowIndex* rows, std::size_t n,
               const std::uint8_t* first, const std::uint8_t* second, bool is_first,
               std::uint32_t* total, std::uint32_t* next) {
  for (std::size_t at = 0; at < table.stride; at += kFlagBytes) {
    const std::uint8_t* block = table.flags + at;
    FlagBytes a{}, b{};
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kFlagsAhead < n) __builtin_prefetch(block + rows[i + kFlagsAhead] * table.stride);
      FlagBytes flags;
      __builtin_memcpy(&flags, block + rows[i] * table.stride, kFlagBytes);
      a += flags & first[i];
      b += flags & second[i];
    }
    put(a, is_first, total + at);
    if (next != nullptr) put(b, is_first, next + at);
  }
}

void sum_flags(const FlagRows& table, const RowIndex* rows, const ClassEntry* entries,
               std::size_t n, std::size_t n_classes, bool counts_rows, std::uint32_t* total) {
  const std::size_t n_lines = n_classes + (counts_rows ? 1 : 0);
  std::uint8_t first[kChunk], second[kChunk];
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < n; begin = end) {
    std::size_t weight = entries[end++].weight;
    while (end < n && weight + entries[end].weight <= kChunk) weight += entries[end++].weight;
    for (std::size_t line = 0; line < n_lines; line += 2) {
      const bool has_next = line + 1 < n_lines;
      weigh(entries + begin, end - begin, line, n_classes, first);
      weigh(entries + begin, end - begin, line + 1, n_classes, second);
      std::uint32_t* out = total + line * table.stride;
      add_chunk(table, rows + begin, end - begin, first, second, begin == 0, out,
                has_next ? out + table.stride : nullptr);
    }
  }
}

constexpr FlagKernels kFlagKernels{sum_flags};

}  // namespace

}  // namespace arboleda
