// Damages model files in every way that is known to hurt loaders, and loads them.
//
//   mutation_fuzz [COUNT] [SEED]      COUNT damaged files (20,000); SEED: which ones (1)
//   mutation_fuzz --corpus FOLDER     writes the files that it begins with
//
// Half of the files keep their checksums, which then do not fit: not one may load to other
// predictions. The other half get new ones, so that the damage reaches the checks behind them: these
// may be refused or load, and what loads is used in full. It ends with a count of each, or at the
// first defect; memory is counted as well. Meant for a build with sanitizers.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <new>
#include <random>
#include <string>

#include "io/example_models.h"
#include "io/fuzzing.h"

namespace {

std::size_t allocated = 0;  // bytes requested since it was last set to 0

}  // namespace

void* operator new(std::size_t size) {
  allocated += size;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace arboleda::fuzzing {

namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return random() % bound; }

Bytes empty_model() { return write_model("{}\n", {}, {}); }

Bytes one_tree(const Tree& tree) {
  return write_model("{\n \"class\": \"DecisionTreeClassifier\"\n}\n", {&tree}, {});
}

std::vector<Bytes> seeds() {
  return {empty_model(),       example_file(),          one_tree(chain(1)), one_tree(chain(7)),
          one_tree(chain(40)), one_tree(categorical()), ensemble_file(),    forest_file(0),
          forest_file(1),      forest_file(2)};
}

// A number where sizes, counts, indices and offsets break: the edges of each width, and near them.
std::uint64_t hostile_number(Random& random, std::size_t file_size) {
  const std::array<std::uint64_t, 12> edges{
      0,
      1,
      0x7F,
      0xFF,
      0xFFFF,
      0x7FFFFFFF,
      0x80000000,
      0xFFFFFFFF,
      0x7FFFFFFFFFFFFFFF,
      0x8000000000000000,
      0x7FF0000000000000,  // infinity
      file_size,
  };
  switch (below(random, 3)) {
    case 0:
      return edges[below(random, edges.size())] + below(random, 5) - 2;
    case 1:
      return random();
    default:
      return below(random, file_size + 8);
  }
}

void change_number(Bytes& file, Random& random) {
  const std::size_t size = std::size_t{1} << below(random, 4);
  if (file.size() < size) return;
  const std::size_t at = below(random, file.size() / size) * size;
  set_number(file, at, hostile_number(random, file.size()), size);
}

// Sizes stand at the beginning of parts; most of a file is arrays, where numbers seldom matter.
void change_size(Bytes& file, Random& random) {
  if (file.size() < kPreambleSize + 48) return;
  const std::size_t header = number_at(file, 24, 8);
  const std::size_t first = kPreambleSize + 8 + std::min(header, file.size() - kPreambleSize - 48);
  const std::size_t at =
      below(random, 2) == 0 ? below(random, 8) * 4 : first + below(random, 10) * 4;
  const std::size_t size = at % 8 == 0 && below(random, 2) == 0 ? 8 : 4;
  if (at + size <= file.size()) set_number(file, at, hostile_number(random, file.size()), size);
}

void copy_block(Bytes& file, Random& random) {
  const std::size_t length = 1 + below(random, 64);
  if (file.size() < length) return;
  const auto last = file.size() - length + 1;
  std::memmove(file.data() + below(random, last), file.data() + below(random, last), length);
}

void erase_block(Bytes& file, Random& random) {
  const std::size_t length =
      below(random, 2) == 0 ? 8 * (1 + below(random, 8)) : 1 + below(random, 40);
  if (file.size() < length) return;
  const auto begin =
      file.begin() + static_cast<std::ptrdiff_t>(below(random, file.size() - length + 1));
  file.erase(begin, begin + static_cast<std::ptrdiff_t>(length));
}

void insert_block(Bytes& file, Random& random) {
  const std::size_t length =
      below(random, 2) == 0 ? 8 * (1 + below(random, 8)) : 1 + below(random, 40);
  const Bytes block(length, static_cast<std::byte>(below(random, 2) * random()));
  const auto at = file.begin() + static_cast<std::ptrdiff_t>(below(random, file.size() + 1));
  file.insert(at, block.begin(), block.end());
}

// A beginning of one file before the end of another.
void cross(Bytes& file, const Bytes& other, Random& random) {
  file.resize(below(random, file.size() + 1) / 8 * 8);
  const auto from = static_cast<std::ptrdiff_t>(below(random, other.size() + 1) / 8 * 8);
  file.insert(file.end(), other.begin() + from, other.end());
}

void mutate(Bytes& file, const Bytes& other, Random& random) {
  for (std::size_t left = 1 + below(random, 3); left > 0; --left) {
    switch (below(random, 9)) {
      case 0:
        if (!file.empty()) file[below(random, file.size())] ^= std::byte{1} << below(random, 8);
        break;
      case 1:
        if (!file.empty()) file[below(random, file.size())] = static_cast<std::byte>(random());
        break;
      case 2:
      case 3:
        change_number(file, random);
        break;
      case 4:
        change_size(file, random);
        break;
      case 5:
        copy_block(file, random);
        break;
      case 6:
        erase_block(file, random);
        break;
      case 7:
        insert_block(file, random);
        break;
      default:
        below(random, 4) == 0 ? cross(file, other, random)
                              : file.resize(below(random, file.size() + 1));
    }
  }
}

void check_memory(const Bytes& file) {
  allocated = 0;
  try {
    read_model(file);
  } catch (const Error&) {
    // Refused; load_and_use checks whether that is right.
  }
  insist(allocated <= 10 * file.size() + 4096, "a small file took much memory");
}

void run(std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  const std::vector<Bytes> originals = seeds();
  std::uint64_t same = 0;
  std::uint64_t refused = 0;
  std::uint64_t others = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes& original = originals[below(random, originals.size())];
    Bytes file = original;
    mutate(file, originals[below(random, originals.size())], random);
    const bool mended = i % 2 == 1;
    if (mended) mend(file);
    check_memory(file);
    const std::vector<double> predictions = load_and_use(file);
    const bool is_same = std::find(originals.begin(), originals.end(), file) != originals.end() ||
                         predictions == load_and_use(original);
    insist(mended || predictions.empty() || is_same, "damage passed the checksums");
    ++(predictions.empty() ? refused : is_same ? same : others);
  }
  std::cout << count << " damaged files: " << refused << " refused, " << same
            << " with the same predictions, " << others
            << " sound files with other predictions (checksums made anew)\n";
}

void write_corpus(const std::string& folder) {
  int number = 0;
  for (const Bytes& file : seeds()) {
    std::ofstream out(folder + "/seed_" + std::to_string(number++), std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()),
              static_cast<std::streamsize>(file.size()));
    insist(out.good(), "the corpus cannot be written");
  }
}

}  // namespace

}  // namespace arboleda::fuzzing

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "--corpus") {
    arboleda::fuzzing::write_corpus(words[1]);
    return 0;
  }
  const std::uint64_t count = words.empty() ? 20'000 : std::stoull(words[0]);
  arboleda::fuzzing::run(count, words.size() > 1 ? std::stoull(words[1]) : 1);
  return 0;
}
