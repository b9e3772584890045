// Windows have all rows of the file, wherever they are read.
#include "data/row_windows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.h"

namespace arboleda {

namespace {

constexpr std::size_t kStride = 7;
constexpr std::size_t kRows = 10'000;
constexpr std::size_t kRowsAt = kDirectAlignment + 30;

// The mapped rows are those of the file less one, so that it is seen where a window was read.
struct WindowProblem {
  WindowProblem() : file(kRowsAt + kRows * kStride + 40), mapped(kRows * kStride) {
    for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::uint8_t>(i * i / 97);
    for (std::size_t i = 0; i < mapped.size(); ++i) {
      mapped[i] = static_cast<std::uint8_t>(file[kRowsAt + i] - 1);
    }
    rows.bytes = mapped.data();
    rows.stride = kStride;
    rows.sweeps.emplace();
    rows.sweeps->window_bytes = 1000;
    rows.sweeps->rows_at = kRowsAt;
    rows.sweeps->read = [this](std::uint64_t at, std::span<std::uint8_t> to, std::size_t least) {
      CHECK(at % kDirectAlignment == 0);
      CHECK(to.size() % kDirectAlignment == 0);
      CHECK(least <= to.size());
      const std::size_t number = n_reads++;
      if (number >= n_supported) return false;
      if (number >= n_readable) throw Error(ErrorKind::bad_format, "cannot be read");
      const auto first = file.begin() + static_cast<std::ptrdiff_t>(at);
      std::copy_n(first, std::min(to.size(), file.size() - at), to.begin());
      return true;
    };
  }

  // Goes through all windows; returns how many were read directly.
  std::size_t sweep(std::size_t cached_bytes) {
    RowWindows windows(rows, kRows, cached_bytes);
    std::size_t next = 0, n_direct = 0;
    n_windows = 0;
    while (const auto window = windows.next()) {
      REQUIRE(window->begin == next);
      REQUIRE(window->end > next);
      const std::size_t n = (window->end - next) * kStride;
      const std::uint8_t* const of_file = &file[kRowsAt + next * kStride];
      const bool is_direct = std::equal(of_file, of_file + n, window->bytes);
      if (!is_direct) CHECK(window->bytes == &mapped[next * kStride]);
      n_direct += is_direct;
      next = window->end;
      ++n_windows;
    }
    CHECK(next == kRows);
    return n_direct;
  }

  std::vector<std::uint8_t> file, mapped;
  MappedRows rows;
  std::size_t n_windows = 0;
  std::atomic<std::size_t> n_reads = 0;
  std::size_t n_supported = SIZE_MAX, n_readable = SIZE_MAX;
};

}  // namespace

TEST_CASE("each window is read once, directly or from the mapping") {
  WindowProblem problem;
  for (const std::size_t window_bytes : {1UL, 1000UL, 5000UL, 1UL << 30}) {
    problem.rows.sweeps->window_bytes = window_bytes;
    problem.n_reads = 0;
    CHECK(problem.sweep(0) == problem.n_windows);
    CHECK(problem.n_reads == problem.n_windows);
  }
  CHECK(problem.n_windows >= 128);
}

TEST_CASE("a share of the windows stays in the page cache") {
  WindowProblem problem;
  const std::size_t n_bytes = kRows * kStride;
  CHECK(problem.sweep(n_bytes) == 0);
  CHECK(problem.sweep(SIZE_MAX) == 0);
  CHECK(problem.n_reads == 0);
  const std::size_t n_direct = problem.sweep(n_bytes / 4);
  const double share = static_cast<double>(n_direct) / static_cast<double>(problem.n_windows);
  CHECK(share == doctest::Approx(0.75).epsilon(0.05));
  CHECK(problem.n_reads == n_direct);
  // They are the same in each sweep, and more memory has them too.
  const RowWindows less(problem.rows, kRows, n_bytes / 4), more(problem.rows, kRows, n_bytes / 3);
  for (std::size_t w = 0; w < problem.n_windows; ++w) {
    if (less.is_cached(w)) CHECK(more.is_cached(w));
  }
}

TEST_CASE("without direct reads all windows are those of the mapping") {
  WindowProblem problem;
  problem.n_supported = 0;
  CHECK(problem.sweep(0) == 0);
  problem.n_reads = 0;
  problem.n_supported = 5;
  CHECK(problem.sweep(0) <= 5);
  problem.rows.sweeps->read = {};
  CHECK(problem.sweep(0) == 0);
}

TEST_CASE("an error of a read comes to the caller") {
  WindowProblem problem;
  problem.n_readable = 6;
  CHECK_THROWS_AS(problem.sweep(0), Error);
}

TEST_CASE("a sweep may end before its last window") {
  WindowProblem problem;
  RowWindows windows(problem.rows, kRows, 0);
  CHECK(windows.next().has_value());
  CHECK(windows.next().has_value());
}

}  // namespace arboleda
