#include "io/model_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "io/checksum.h"
#include "io/foreign.h"
#include "io/forest_bytes.h"
#include "io/linear_arrays.h"
#include "io/tree_bytes.h"

namespace arboleda {

namespace {

using namespace std::string_view_literals;

constexpr auto kMagic =
    "\x89"
    "ARB\r\n\x1A\n"sv;
constexpr auto kTree = "TREE"sv;
constexpr auto kForest = "FRST"sv;
constexpr auto kArray = "ARRY"sv;
constexpr auto kEnd = "END "sv;
constexpr std::size_t kSectionHead = 16;
constexpr std::size_t kHeaderTail = 8;  // checksum, zeros
constexpr std::size_t kFileTail = 8;    // kEnd, checksum

constexpr std::size_t kMostDimensions = 8;
constexpr std::size_t kLongestName = 64;
constexpr std::uint32_t kFloat64 = 1;
constexpr std::uint32_t kInt64 = 2;

std::string text_of(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

// How many numbers an array of this shape has; -1 where that is beyond what a file can hold. NumPy bounds
// an empty array, too, by the product of its other lengths.
std::int64_t count_of(const std::vector<std::uint64_t>& shape) {
  constexpr auto kMost = UInt128{std::numeric_limits<std::int64_t>::max()} / 8;
  UInt128 count = 1;
  bool empty = false;
  for (const std::uint64_t length : shape) {
    if (length == 0) {
      empty = true;
      continue;
    }
    count *= length;
    if (count > kMost) return -1;
  }
  return empty ? 0 : static_cast<std::int64_t>(count);
}

void put(Bytes& out, std::size_t at, std::uint64_t number) {
  Bytes bytes;
  append(bytes, number);
  std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
}

void put(Bytes& out, std::size_t at, std::uint32_t number) {
  Bytes bytes;
  append(bytes, number);
  std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
}

// Writes a section whose content `fill` appends.
template <class Fill>
void append_section(Bytes& out, std::string_view kind, const Fill& fill) {
  const std::size_t head = out.size();
  append_text(out, kind);
  append(out, std::uint32_t{0});  // checksum and length: known at the end
  append(out, std::uint64_t{0});
  fill(out);
  const ByteView content = ByteView(out).subspan(head + kSectionHead);
  put(out, head + 4, crc32c(content));
  put(out, head + 8, static_cast<std::uint64_t>(content.size()));
  align(out);
}

void append_array(Bytes& out, const NamedArray& array) {
  const auto count = std::visit([](const auto& x) { return x.size(); }, array.numbers);
  require(is_name(array.name), "an array of the model needs a name of a-z, 0-9, _ and .");
  require(array.shape.size() <= kMostDimensions &&
              count_of(array.shape) == static_cast<std::int64_t>(count),
          "an array of the model differs from its stated shape");
  append(out, std::holds_alternative<std::vector<double>>(array.numbers) ? kFloat64 : kInt64);
  append(out, static_cast<std::uint32_t>(array.name.size()));
  append(out, static_cast<std::uint32_t>(array.shape.size()));
  append(out, std::uint32_t{0});
  append(out, array.shape);
  append_text(out, array.name);
  align(out);
  std::visit([&](const auto& numbers) { append(out, numbers); }, array.numbers);
}

NamedArray read_array(ByteView content, std::size_t at) {
  ByteReader reader(content, at);
  const auto type = reader.number<std::uint32_t>();
  const auto name_length = reader.number<std::uint32_t>();
  const auto n_dimensions = reader.number<std::uint32_t>();
  reader.skip_zeros(4);
  if (type != kFloat64 && type != kInt64) refuse(at, "an array has an unknown type of numbers");
  if (n_dimensions > kMostDimensions) refuse(at, "an array has too many dimensions");
  NamedArray array;
  array.shape = reader.numbers<std::uint64_t>(n_dimensions);
  array.name = text_of(reader.take(name_length));
  if (!is_name(array.name)) refuse(at, "an array has an impossible name");
  reader.align();
  const std::int64_t count = count_of(array.shape);
  if (count < 0 || static_cast<std::uint64_t>(count) * 8 != reader.left()) {
    refuse(at, "the shape of the array '" + array.name + "' and its length disagree");
  }
  const auto n = static_cast<std::size_t>(count);
  if (type == kFloat64) {
    array.numbers = reader.numbers<double>(n);
  } else {
    array.numbers = reader.numbers<std::int64_t>(n);
  }
  return array;
}

struct Section {
  std::string kind;
  ByteView content;
  std::size_t at;  // where in the file the content begins
};

// Takes the next section, its padding included, and checks its length and its checksum.
Section take_section(ByteReader& reader) {
  const std::size_t begin = reader.at();
  Section section;
  section.kind = text_of(reader.take(4));
  const auto checksum = reader.number<std::uint32_t>();
  const auto length = reader.number<std::uint64_t>();
  if (section.kind != kTree && section.kind != kForest && section.kind != kArray) {
    refuse(begin, "here a tree, a forest or an array should begin");
  }
  if (length > reader.left()) refuse(begin, "a section is longer than the file");
  section.at = reader.at();
  section.content = reader.take(length);
  if (crc32c(section.content) != checksum) {
    refuse(section.at, "the file is damaged: a section does not have its checksum");
  }
  reader.align();
  return section;
}

// The one section of a pickle.
Section take_only(ByteView bytes, std::string_view kind) {
  ByteReader reader(bytes, 0);
  Section section = take_section(reader);
  if (section.kind != kind) refuse(0, "here another part of a model should begin");
  if (reader.left() > 0) refuse(reader.at(), "something follows the part of a model");
  return section;
}

// Trees come first, then forests, then arrays.
int place_of(std::string_view kind) { return kind == kTree ? 0 : kind == kForest ? 1 : 2; }

// A tree that was pickled. It has been one of this process or another: its columns need no bound.
Tree read_own_tree(const Section& section) {
  return read_tree(section.content, section.at, std::numeric_limits<std::size_t>::max());
}

void check_magic(ByteView begin) {
  if (begin.empty()) refuse(0, "the file is empty");
  const std::size_t n = std::min(begin.size(), kMagic.size());
  if (text_of(begin.first(n)) != kMagic.substr(0, n)) {
    refuse(0, "this is no model file of arboleda but " + describe_foreign(begin));
  }
}

std::uint64_t check_sizes(ByteReader& preamble, std::uint64_t file_size) {
  const auto n_sections = preamble.number<std::uint32_t>();
  const auto length = preamble.number<std::uint64_t>();
  const auto header_length = preamble.number<std::uint64_t>();
  if (length != file_size) {
    refuse(16, (length > file_size ? "the file is cut short: it should have "
                                   : "bytes follow the end of the file: it should have ") +
                   std::to_string(length) + " bytes and has " + std::to_string(file_size));
  }
  constexpr std::uint64_t kLeast = kPreambleSize + kHeaderTail + kFileTail;
  if (length < kLeast || header_length > length - kLeast || header_length % 8 != 0) {
    refuse(24, "the header is longer than the file");
  }
  if (n_sections > (length - kLeast - header_length) / kSectionHead) {
    refuse(12, "the file is too short for its sections");
  }
  return kPreambleSize + header_length + kHeaderTail;
}

}  // namespace

Bytes write_model(const std::string& header, const std::vector<const Tree*>& trees,
                  const std::vector<NamedArray>& arrays,
                  const std::vector<const Forest*>& forests) {
  const std::size_t n_sections = trees.size() + forests.size() + arrays.size();
  require(n_sections <= std::numeric_limits<std::uint32_t>::max(), "a model has too many parts");
  Bytes out;
  append_text(out, kMagic);
  append(out, kModelFormatVersion);
  append(out, static_cast<std::uint32_t>(n_sections));
  append(out, std::uint64_t{0});  // length of the file: known at the end, and so is its checksum
  append(out, std::uint64_t{0});
  append_text(out, header);
  while (out.size() % 8 != 0) append_text(out, " "sv);
  put(out, 24, static_cast<std::uint64_t>(out.size() - kPreambleSize));
  const std::size_t header_end = out.size();
  append(out, std::uint64_t{0});
  for (const Tree* tree : trees) {
    append_section(out, kTree, [&](Bytes& o) { append_tree(o, *tree); });
  }
  for (const Forest* forest : forests) {
    append_section(out, kForest, [&](Bytes& o) { append_forest(o, *forest); });
  }
  for (const NamedArray& array : arrays) {
    append_section(out, kArray, [&](Bytes& o) { append_array(o, array); });
  }
  append_text(out, kEnd);
  put(out, 16, static_cast<std::uint64_t>(out.size() + 4));
  put(out, header_end, crc32c(ByteView(out).first(header_end)));
  append(out, crc32c(out));
  return out;
}

std::uint64_t check_preamble(ByteView begin, std::uint64_t file_size) {
  check_magic(begin);
  if (begin.size() < kPreambleSize) refuse(begin.size(), "the file is cut short");
  ByteReader preamble(begin.first(kPreambleSize), 0);
  preamble.take(kMagic.size());
  const auto version = preamble.number<std::uint32_t>();
  if (version == 0) refuse(8, "the file is damaged: there is no format 0");
  if (version > kModelFormatVersion) {
    refuse(8, "the file has format " + std::to_string(version) +
                  ", and this version of arboleda reads formats up to " +
                  std::to_string(kModelFormatVersion) + ": install a newer arboleda");
  }
  return check_sizes(preamble, file_size);
}

std::string read_model_header(ByteView begin) {
  require(begin.size() >= kPreambleSize + kHeaderTail, "the header is not all given");
  const std::size_t header_end = begin.size() - kHeaderTail;
  ByteReader tail(begin.subspan(header_end), header_end);
  if (tail.number<std::uint32_t>() != crc32c(begin.first(header_end))) {
    refuse(header_end, "the file is damaged: the header does not have its checksum");
  }
  tail.skip_zeros(4);
  return text_of(begin.first(header_end).subspan(kPreambleSize));
}

ModelFile read_model(ByteView file) {
  const auto header_size = static_cast<std::size_t>(check_preamble(file, file.size()));
  ModelFile model;
  model.header = read_model_header(file.first(header_size));
  const auto n_sections = ByteReader(file.subspan(12), 12).number<std::uint32_t>();
  ByteReader reader(file.subspan(header_size), header_size);
  std::vector<Section> sections;
  for (std::uint32_t i = 0; i < n_sections; ++i) {
    const std::size_t begin = reader.at();
    sections.push_back(take_section(reader));
    if (i > 0 && place_of(sections[i].kind) < place_of(sections[i - 1].kind)) {
      refuse(begin, "trees, forests and arrays do not follow each other in this order");
    }
  }
  if (text_of(reader.take(4)) != kEnd) refuse(reader.at() - 4, "here the file should end");
  if (reader.number<std::uint32_t>() != crc32c(file.first(file.size() - 4))) {
    refuse(file.size() - 4, "the file is damaged: it does not have its checksum");
  }
  if (reader.left() > 0) refuse(reader.at(), "the file goes on after its end");
  std::set<std::string> names;
  for (const Section& section : sections) {
    if (section.kind == kTree) {
      model.trees.push_back(read_tree(section.content, section.at, file.size()));
    } else if (section.kind == kForest) {
      model.forests.push_back(read_forest(section.content, section.at, file.size()));
    } else {
      model.arrays.push_back(read_array(section.content, section.at));
      if (!names.insert(model.arrays.back().name).second) {
        refuse(section.at, "two arrays have one name");
      }
    }
  }
  return model;
}

Bytes write_tree_section(const Tree& tree) {
  Bytes out;
  append_section(out, kTree, [&](Bytes& o) { append_tree(o, tree); });
  return out;
}

Tree read_tree_section(ByteView bytes) { return read_own_tree(take_only(bytes, kTree)); }

Bytes write_forest_section(const Forest& forest) {
  Bytes out;
  append_section(out, kForest, [&](Bytes& o) { append_forest(o, forest); });
  return out;
}

Forest read_forest_section(ByteView bytes) {
  const Section section = take_only(bytes, kForest);
  return read_forest(section.content, section.at, std::numeric_limits<std::size_t>::max());
}

Bytes write_ensemble_sections(const TreeEnsemble& ensemble) {
  Bytes out;
  append_section(out, kArray, [&](Bytes& o) {
    append_array(o, {"start", {ensemble.n_outputs()}, ensemble.start});
  });
  for (const Tree& tree : ensemble.trees) {
    append_section(out, kTree, [&](Bytes& o) { append_tree(o, tree); });
  }
  for (const NamedArray& array : to_arrays(ensemble.linear)) {
    append_section(out, kArray, [&](Bytes& o) { append_array(o, array); });
  }
  return out;
}

TreeEnsemble read_ensemble_sections(ByteView bytes) {
  ByteReader reader(bytes, 0);
  const Section section = take_section(reader);
  if (section.kind != kArray) refuse(0, "here the start of an ensemble should stand");
  NamedArray start = read_array(section.content, section.at);
  auto* numbers = std::get_if<std::vector<double>>(&start.numbers);
  if (start.name != "start" || start.shape.size() != 1 || numbers == nullptr) {
    refuse(section.at, "here the start of an ensemble should stand");
  }
  TreeEnsemble ensemble{std::move(*numbers), {}};
  std::vector<NamedArray> linear;
  while (reader.left() > 0) {
    const std::size_t begin = reader.at();
    const Section part = take_section(reader);
    if (part.kind == kArray) {
      linear.push_back(read_array(part.content, part.at));
    } else if (part.kind == kTree && linear.empty()) {
      ensemble.trees.push_back(read_own_tree(part));
    } else {
      refuse(begin, "a tree follows an array, or a forest stands in an ensemble");
    }
  }
  try {
    ensemble.linear = to_linear_leaves(std::move(linear));
    check_ensemble(ensemble);
  } catch (const Error& error) {
    refuse(0, error.what());
  }
  return ensemble;
}

}  // namespace arboleda
