#include "base/direct_file.h"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.h"

#if !defined(_WIN32)
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#endif

namespace arboleda {

#if !defined(_WIN32)

namespace {

constexpr std::size_t kFileBytes = 3 * kDirectAlignment + 100;

// A file that has no name any more.
struct UnnamedFile {
  UnnamedFile() {
    std::string path = std::filesystem::temp_directory_path() / "arboleda-direct-XXXXXX";
    descriptor = mkstemp(path.data());
    REQUIRE(descriptor >= 0);
    unlink(path.c_str());
    for (std::size_t i = 0; i < kFileBytes; ++i)
      bytes.push_back(static_cast<std::uint8_t>(i % 251));
    REQUIRE(write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(kFileBytes));
  }
  ~UnnamedFile() {
    if (descriptor >= 0) close(descriptor);
  }
  UnnamedFile(const UnnamedFile&) = delete;

  int descriptor;
  std::vector<std::uint8_t> bytes;
};

}  // namespace

TEST_CASE("bytes of a file are read, also the last ones, after the caller has closed it") {
  UnnamedFile file;
  const DirectRead read = read_directly(file.descriptor);
  close(file.descriptor);
  file.descriptor = -1;
  std::vector<std::uint8_t> to(2 * kDirectAlignment);
  const std::size_t least = kDirectAlignment + 100;
  REQUIRE(read(2 * kDirectAlignment, to, least));
  CHECK(std::equal(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(least),
                   file.bytes.begin() + 2 * kDirectAlignment));
}

TEST_CASE("a file that has become shorter, or cannot be read, is an error") {
  UnnamedFile file;
  const DirectRead read = read_directly(file.descriptor);
  std::vector<std::uint8_t> to(2 * kDirectAlignment);
  REQUIRE(ftruncate(file.descriptor, 3 * kDirectAlignment) == 0);
  CHECK_THROWS_AS(read(2 * kDirectAlignment, to, kDirectAlignment + 1), Error);
  const int folder = open(std::filesystem::temp_directory_path().c_str(), O_RDONLY);
  const DirectRead read_folder = read_directly(folder);
  close(folder);
  CHECK_THROWS_AS(read_folder(0, to, 1), Error);
}

TEST_CASE("no descriptor, no reads") { CHECK_FALSE(read_directly(-1)); }

#endif

}  // namespace arboleda
