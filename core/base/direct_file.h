// Reads of a file that leave none of it in the memory of the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace arboleda {

// Places in the file, lengths and buffers of such reads are multiples of this.
inline constexpr std::size_t kDirectAlignment = 4096;

// Reads the bytes of a file from `at` on; those after the first `least` may lie beyond its end. False where the
// system or the file system has no direct reads. Throws Error(bad_format) if the file cannot be read, or has
// become shorter.
using DirectRead =
    std::function<bool(std::uint64_t at, std::span<std::uint8_t> to, std::size_t least)>;

// descriptor: of a file that was opened for direct reads; a duplicate of it is kept. Empty where the system has
// no descriptors.
DirectRead read_directly(int descriptor);

// Bytes of a file that were read directly.
class DirectBuffer {
 public:
  // Room for so many bytes, which stay what they are if there is room already.
  void reserve(std::size_t n);

  // Bytes at .. at + n of the file, with those around them that alignment calls for; null where there are no
  // direct reads. They stay until the next call; kAfter bytes after the last one can be read too.
  const std::uint8_t* read(const DirectRead& read, std::uint64_t at, std::size_t n);

  static constexpr std::size_t kAfter = 64;

 private:
  struct Delete {
    void operator()(std::uint8_t* bytes) const;
  };
  std::unique_ptr<std::uint8_t, Delete> bytes_;
  std::size_t n_bytes_ = 0;
};

}  // namespace arboleda
