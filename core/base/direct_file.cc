#include "base/direct_file.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "base/error.h"

#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace arboleda {

#if defined(_WIN32)

DirectRead read_directly(int) { return {}; }

#else

DirectRead read_directly(int descriptor) {
  const int own = dup(descriptor);
  if (own < 0) return {};
  const std::shared_ptr<const int> file(new int(own), [](const int* number) {
    close(*number);
    delete number;
  });
  return [file](std::uint64_t at, std::span<std::uint8_t> to, std::size_t least) {
    std::size_t n_read = 0;
    while (n_read < least) {
      const ssize_t n =
          pread(*file, to.data() + n_read, to.size() - n_read, static_cast<off_t>(at + n_read));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EINVAL && n_read == 0) return false;
      if (n <= 0) {
        throw Error(ErrorKind::bad_format, "the file cannot be read, or has become shorter");
      }
      n_read += static_cast<std::size_t>(n);
    }
    return true;
  };
}

#endif

void DirectBuffer::Delete::operator()(std::uint8_t* bytes) const {
  ::operator delete(bytes, std::align_val_t{kDirectAlignment});
}

// Wherever the bytes begin.
void DirectBuffer::reserve(std::size_t n) {
  const std::size_t most = n + 2 * kDirectAlignment + kAfter;
  if (n_bytes_ >= most) return;
  n_bytes_ = most;
  bytes_.reset(
      static_cast<std::uint8_t*>(::operator new(most, std::align_val_t{kDirectAlignment})));
  std::fill_n(bytes_.get(), most, std::uint8_t{0});
}

const std::uint8_t* DirectBuffer::read(const DirectRead& read, std::uint64_t at, std::size_t n) {
  reserve(n);
  const std::size_t skipped = at % kDirectAlignment;
  const std::size_t n_parts = (skipped + n + kDirectAlignment - 1) / kDirectAlignment;
  const bool is_read = read(at - skipped, {bytes_.get(), n_parts * kDirectAlignment}, skipped + n);
  return is_read ? bytes_.get() + skipped : nullptr;
}

}  // namespace arboleda
