// Numbers to little-endian bytes and back, whatever the machine; nothing is read beyond the end.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace arboleda {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

// Throws the error of a file that is not what it should be; `at` is counted from its first byte.
[[noreturn]] inline void refuse(std::size_t at, const std::string& what) {
  throw Error(ErrorKind::bad_format, "byte " + std::to_string(at) + ": " + what);
}

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

// Turns numbers as this machine holds them into little-endian ones, or back.
template <bool kLittleEndian = std::endian::native == std::endian::little>
void swap_if_needed(std::byte* numbers, std::size_t count, std::size_t size) {
  if constexpr (!kLittleEndian) {
    for (std::size_t i = 0; i < count; ++i)
      std::reverse(numbers + i * size, numbers + (i + 1) * size);
  }
}

template <Number T>
void append(Bytes& out, std::span<const T> numbers) {
  if (numbers.empty()) return;
  const std::size_t begin = out.size();
  out.resize(begin + numbers.size_bytes());
  std::memcpy(out.data() + begin, numbers.data(), numbers.size_bytes());
  swap_if_needed(out.data() + begin, numbers.size(), sizeof(T));
}

template <Number T>
void append(Bytes& out, T number) {
  append(out, std::span<const T>(&number, 1));
}

template <Number T>
void append(Bytes& out, const std::vector<T>& numbers) {
  append(out, std::span<const T>(numbers));
}

inline void append_text(Bytes& out, std::span<const char> text) {
  if (text.empty()) return;
  const std::size_t begin = out.size();
  out.resize(begin + text.size());
  std::memcpy(out.data() + begin, text.data(), text.size());
}

// Fills up with zeros, so that the next number stands at a multiple of eight.
inline void align(Bytes& out) { out.resize((out.size() + 7) / 8 * 8, std::byte{0}); }

// Reads from the front of a part of a file and keeps the position in the file.
class ByteReader {
 public:
  ByteReader(ByteView bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size(); }

  ByteView take(std::size_t count) {
    if (count > left()) refuse_short();
    const ByteView front = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    at_ += count;
    return front;
  }

  template <Number T>
  T number() {
    return numbers<T>(1).front();
  }

  // The bytes are there before memory is taken for the numbers.
  template <Number T>
  std::vector<T> numbers(std::size_t count) {
    if (count > left() / sizeof(T)) refuse_short();
    const ByteView bytes = take(count * sizeof(T));
    std::vector<T> numbers(count);
    if (count == 0) return numbers;
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    swap_if_needed(reinterpret_cast<std::byte*>(numbers.data()), count, sizeof(T));
    return numbers;
  }

  void skip_zeros(std::size_t count) {
    const std::size_t begin = at_;
    for (const std::byte byte : take(count)) {
      if (byte != std::byte{0}) refuse(begin, "the space between two parts is not zero");
    }
  }

  void align() { skip_zeros((8 - at_ % 8) % 8); }

 private:
  [[noreturn]] void refuse_short() const {
    refuse(at_, "more should follow than the " + std::to_string(left()) + " bytes that do");
  }

  ByteView bytes_;
  std::size_t at_;
};

}  // namespace arboleda
