// The loop of base/binary_feature_kernels.h; included by base/kernels_loops.h only, under its rules.
//
// A row's flags are masks: one instruction gives its weight to as many columns as a register has
// bytes. Rows are taken in chunks of at most 255 in weight, so that no byte overflows, and classes two
// by two, so that their sums stay in registers.

namespace arboleda {

namespace {

constexpr std::size_t kFlagsAhead = 8;  // rows from now whose flags are fetched
constexpr std::size_t kChunk = 255;     // rows, and their weight
constexpr std::size_t kFlagBytes = 64;

using BinaryFeatureBytes = std::uint8_t __attribute__((vector_size(64)));

// What each row of a chunk gives to one line of the sums.
inline void weigh(const ClassEntry* entries, std::size_t n, std::size_t line, std::size_t n_classes,
                  std::uint8_t* weights) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint16_t own = entries[i].label == line ? entries[i].weight : std::uint16_t{0};
    weights[i] = static_cast<std::uint8_t>(line == n_classes ? 1 : own);
  }
}

inline void put(const BinaryFeatureBytes& bytes, bool is_first, std::uint32_t* __restrict total) {
  std::uint8_t part[kFlagBytes];
  __builtin_memcpy(part, &bytes, kFlagBytes);
  if (is_first) {
    for (std::size_t j = 0; j < kFlagBytes; ++j) total[j] = part[j];
  } else {
    for (std::size_t j = 0; j < kFlagBytes; ++j) total[j] += part[j];
  }
}

// Two lines of the sums, `total` and the one after it (null: one line only).
void add_chunk(const BinaryFeatureRows& table, const RowIndex* rows, std::size_t n,
               const std::uint8_t* first, const std::uint8_t* second, bool is_first,
               std::uint32_t* total, std::uint32_t* next) {
  for (std::size_t at = 0; at < table.stride; at += kFlagBytes) {
    const std::uint8_t* block = table.flags + at;
    BinaryFeatureBytes a{}, b{};
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kFlagsAhead < n) __builtin_prefetch(block + rows[i + kFlagsAhead] * table.stride);
      BinaryFeatureBytes flags;
      __builtin_memcpy(&flags, block + rows[i] * table.stride, kFlagBytes);
      a += flags & first[i];
      b += flags & second[i];
    }
    put(a, is_first, total + at);
    if (next != nullptr) put(b, is_first, next + at);
  }
}

void sum_flags(const BinaryFeatureRows& table, const RowIndex* rows, const ClassEntry* entries,
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

using BinaryFeatureWords = std::uint32_t __attribute__((vector_size(32)));
using BinaryFeatureMasks = std::int32_t __attribute__((vector_size(32)));

inline void read(const std::uint32_t* at, BinaryFeatureWords& words) {
  __builtin_memcpy(&words, at, sizeof words);
}

// A group of columns, ready for use.
struct GroupLanes {
  const std::uint32_t* block;  // of the first row
  BinaryFeatureWords word, shift;

  GroupLanes(const BinaryFeatureBits& table, const BinaryFeatureGroup& group)
      : block(table.words + group.block * BinaryFeatureBits::kBlock) {
    read(group.word, word);
    read(group.shift, shift);
  }

  // All bits of a lane are 1 where the row has the column's flag.
  void masks(std::size_t row_start, BinaryFeatureWords& masks) const {
    BinaryFeatureWords words;
    read(block + row_start, words);
    const BinaryFeatureWords picked = __builtin_shuffle(words, word) << shift;
    masks =
        reinterpret_cast<BinaryFeatureWords>(reinterpret_cast<BinaryFeatureMasks>(picked) >> 31);
  }
};

// Of two classes: the weights of a chunk's rows, and above them those of the second class.
inline void pack(const ClassEntry* entries, std::size_t n, std::uint32_t* packed) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t weight = entries[i].weight;
    packed[i] = weight + ((weight * entries[i].label) << 16);
  }
}

// Adds the sums of packed weights, which are below 2^16 each, to those of the classes.
inline void add_packed(const BinaryFeatureWords& sums, std::size_t stride, std::uint32_t* total) {
  BinaryFeatureWords first, second;
  read(total, first);
  read(total + stride, second);
  second += sums >> 16;
  first += (sums & 0xFFFF) - (sums >> 16);
  __builtin_memcpy(total, &first, sizeof first);
  __builtin_memcpy(total + stride, &second, sizeof second);
}

void sum_chunk_of_two(const BinaryFeatureBits& table, const GroupLanes& group, const RowIndex* rows,
                      const std::uint32_t* packed, std::size_t n, std::size_t stride,
                      std::uint32_t* total) {
  BinaryFeatureWords sums{};
  for (std::size_t i = 0; i < n; ++i) {
    BinaryFeatureWords masks;
    group.masks(rows[i] * table.stride, masks);
    sums += masks & packed[i];
  }
  add_packed(sums, stride, total);
}

void sum_group(const BinaryFeatureBits& table, const GroupLanes& group, const RowIndex* rows,
               const ClassEntry* entries, std::size_t n, std::size_t stride, std::uint32_t* total) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t* own = total + entries[i].label * stride;
    BinaryFeatureWords masks, sum;
    group.masks(rows[i] * table.stride, masks);
    read(own, sum);
    sum += masks & static_cast<std::uint32_t>(entries[i].weight);
    __builtin_memcpy(own, &sum, sizeof sum);
  }
}

void count_group(const BinaryFeatureBits& table, const GroupLanes& group, const RowIndex* rows,
                 std::size_t n, std::uint32_t* total) {
  BinaryFeatureWords sum{};
  for (std::size_t i = 0; i < n; ++i) {
    BinaryFeatureWords masks;
    group.masks(rows[i] * table.stride, masks);
    sum -= masks;
  }
  __builtin_memcpy(total, &sum, sizeof sum);
}

void sum_groups(const BinaryFeatureBits& table, const BinaryFeatureGroup* groups,
                std::size_t n_groups, const RowIndex* rows, const ClassEntry* entries,
                std::size_t n, std::size_t n_classes, bool counts_rows, std::uint32_t* total) {
  const std::size_t stride = n_groups * BinaryFeatureGroup::kColumns;
  __builtin_memset(total, 0, n_classes * stride * sizeof *total);
  std::uint32_t packed[kChunk];
  for (std::size_t begin = 0; begin < n; begin += kChunk) {
    const std::size_t n_in = n - begin < kChunk ? n - begin : kChunk;
    if (n_classes == 2) pack(entries + begin, n_in, packed);
    for (std::size_t g = 0; g < n_groups; ++g) {
      const GroupLanes group(table, groups[g]);
      std::uint32_t* own = total + g * BinaryFeatureGroup::kColumns;
      if (n_classes == 2) {
        sum_chunk_of_two(table, group, rows + begin, packed, n_in, stride, own);
      } else {
        sum_group(table, group, rows + begin, entries + begin, n_in, stride, own);
      }
    }
  }
  if (!counts_rows) return;
  for (std::size_t g = 0; g < n_groups; ++g) {
    count_group(table, GroupLanes(table, groups[g]), rows, n,
                total + n_classes * stride + g * BinaryFeatureGroup::kColumns);
  }
}

void varying_flags(const BinaryFeatureBits& table, const RowIndex* rows, std::size_t n,
                   std::uint32_t* words) {
  for (std::size_t at = 0; at < table.stride; at += BinaryFeatureBits::kBlock) {
    BinaryFeatureWords first, any{};
    read(table.words + rows[0] * table.stride + at, first);
    for (std::size_t i = 1; i < n; ++i) {
      BinaryFeatureWords own;
      read(table.words + rows[i] * table.stride + at, own);
      any |= own ^ first;
    }
    __builtin_memcpy(words + at, &any, sizeof any);
  }
}

constexpr BinaryFeatureKernels kFlagKernels{sum_flags, sum_groups, varying_flags};

}  // namespace

}  // namespace arboleda
