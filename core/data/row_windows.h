// The rows of a table in a file, window after window, as one pass over all of them reads them.
//
// Windows are read directly, two ahead of the one at hand, by threads that only wait for the disk. Those of a share
// of the rows are read where the file is mapped instead, so that they stay in the page cache of the system:
// a pass through a file that is larger than this cache would find none of its pages there. They lie evenly among
// the others, so that the disk is busy meanwhile:
//
//   direct | cached | direct | direct | cached | direct | ...
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/background_call.h"
#include "base/direct_file.h"
#include "data/binned_dataset.h"

namespace arboleda {

// Rows begin .. end, and the codes of the first.
struct RowWindow {
  std::size_t begin = 0, end = 0;
  const std::uint8_t* bytes = nullptr;
};

class RowWindows {
 public:
  // cached_bytes: of windows that are read where the file is mapped.
  RowWindows(const MappedRows& rows, std::size_t n_rows, std::size_t cached_bytes);

  // The next window, whose bytes stay until the call after; none after the last.
  std::optional<RowWindow> next();

  // A larger share has the windows of each smaller one.
  bool is_cached(std::size_t window) const;

 private:
  static constexpr std::size_t kBuffers = 3;  // one in use, and two that are being read

  struct Buffer {
    DirectBuffer bytes;
    const std::uint8_t* first_row = nullptr;  // once it was read; null: there are no direct reads
    BackgroundCall read;                      // ends before the others
  };

  RowWindow window_at(std::size_t number) const;
  void read_ahead();

  const MappedRows& rows_;
  const std::size_t n_rows_;
  const std::size_t window_rows_;
  const std::size_t n_windows_;
  std::uint64_t cached_share_;             // in units of 2^-32
  std::size_t next_ = 0;                   // window
  std::size_t ahead_ = 0;                  // first window that no buffer was found for yet
  std::size_t n_begun_ = 0, n_taken_ = 0;  // direct windows
  std::array<Buffer, kBuffers> buffers_;
};

}  // namespace arboleda
