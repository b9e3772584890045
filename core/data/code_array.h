// One code a row: owned, or those of a file that is mapped into memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace arboleda {

// Copies share the codes, which do not change once they are filled.
template <class T>
class CodeArray {
 public:
  using value_type = T;

  CodeArray() = default;
  CodeArray(std::vector<T> codes) {
    const auto owned = std::make_shared<std::vector<T>>(std::move(codes));
    data_ = owned->data();
    size_ = owned->size();
    owner_ = owned;
  }

  // Codes that are only read, and outlive this.
  static CodeArray borrow(const T* codes, std::size_t n) {
    CodeArray array;
    array.data_ = const_cast<T*>(codes);
    array.size_ = n;
    return array;
  }

  // Those of neighbouring rows.
  CodeArray slice(std::size_t begin, std::size_t end) const {
    CodeArray array = *this;
    array.data_ += begin;
    array.size_ = end - begin;
    return array;
  }

  std::size_t size() const { return size_; }
  const T* data() const { return data_; }
  T* data() { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }

  friend bool operator==(const CodeArray& a, const CodeArray& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace arboleda
