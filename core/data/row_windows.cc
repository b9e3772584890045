#include "data/row_windows.h"

#include <algorithm>

#include "base/memory.h"
#include "simd/histogram_kernels.h"

namespace arboleda {

namespace {

// Windows from now whose pages are read.
constexpr std::size_t kMostAhead = 8;

// Buffers take a small part of the memory that the codes of a small table would.
constexpr std::size_t kLeastWindows = 128;

constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;

}  // namespace

RowWindows::RowWindows(const MappedRows& rows, std::size_t n_rows, std::size_t cached_bytes)
    : rows_(rows),
      n_rows_(n_rows),
      window_rows_(std::max<std::size_t>(
          std::min(rows.sweeps->window_bytes / rows.stride, n_rows / kLeastWindows), 1)),
      n_windows_((n_rows + window_rows_ - 1) / window_rows_) {
  static_assert(kCodeRun <= DirectBuffer::kAfter);
  const std::size_t n_bytes = n_rows * rows.stride;
  cached_share_ = !rows.sweeps->read || cached_bytes >= n_bytes
                      ? kWhole
                      : static_cast<std::uint64_t>(static_cast<double>(cached_bytes) /
                                                   static_cast<double>(n_bytes) * 0x1p32);
}

// Multiples of the golden ratio, modulo 1, lie evenly.
bool RowWindows::is_cached(std::size_t window) const {
  constexpr std::uint64_t kGoldenRatio = 2654435769;  // in units of 2^-32
  return window * kGoldenRatio % kWhole < cached_share_;
}

RowWindow RowWindows::window_at(std::size_t number) const {
  const std::size_t begin = number * window_rows_;
  return {begin, std::min(begin + window_rows_, n_rows_), rows_.bytes + begin * rows_.stride};
}

std::optional<RowWindow> RowWindows::next() {
  if (next_ == n_windows_) return std::nullopt;
  read_ahead();
  RowWindow window = window_at(next_);
  if (!is_cached(next_++)) {
    Buffer& buffer = buffers_[n_taken_++ % kBuffers];
    buffer.read.finish();
    if (buffer.first_row != nullptr) {
      window.bytes = buffer.first_row;
    } else {
      cached_share_ = kWhole;
    }
  }
  return window;
}

void RowWindows::read_ahead() {
  const std::size_t end = std::min(n_windows_, next_ + kMostAhead);
  for (; ahead_ < end && n_begun_ < n_taken_ + kBuffers; ++ahead_) {
    if (is_cached(ahead_)) {
      const RowWindow window = window_at(ahead_);
      read_pages_ahead(window.bytes, (window.end - window.begin) * rows_.stride);
      continue;
    }
    Buffer& buffer = buffers_[n_begun_++ % kBuffers];
    const RowWindow window = window_at(ahead_);
    const std::size_t n_bytes = (window.end - window.begin) * rows_.stride;
    buffer.bytes.reserve(n_bytes);
    buffer.read.start([this, &buffer, begin = window.begin, n_bytes] {
      const Sweeps& sweeps = *rows_.sweeps;
      buffer.first_row =
          buffer.bytes.read(sweeps.read, sweeps.rows_at + begin * rows_.stride, n_bytes);
    });
  }
}

}  // namespace arboleda
