// Ownership of buffers between C++ and NumPy, in one place.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace arboleda::python {

namespace nb = nanobind;

template <class T>
using InArray = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A column of any type and stride.
using AnyColumn = nb::ndarray<nb::ro, nb::numpy, nb::ndim<1>, nb::device::cpu>;

template <class T, int kDims = 1>
using OutArray = nb::ndarray<nb::numpy, T, nb::ndim<kDims>, nb::c_contig>;

template <class T>
std::span<const T> span_of(const InArray<T>& array) {
  return {array.data(), array.size()};
}

// None is an empty span.
template <class T>
std::span<const T> span_of(const std::optional<InArray<T>>& array) {
  return array ? span_of(*array) : std::span<const T>{};
}

template <class T>
std::vector<T> to_vector(const InArray<T>& array) {
  return {array.data(), array.data() + array.size()};
}

// Hands a vector over to Python: the array owns it. With T const, Python may not write to it.
template <class T, int kDims>
OutArray<T, kDims> to_numpy(std::vector<std::remove_const_t<T>> values,
                            const std::size_t (&shape)[kDims]) {
  using Owned = std::vector<std::remove_const_t<T>>;
  auto* owned = new Owned(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Owned*>(p); });
  return OutArray<T, kDims>(owned->data(), kDims, shape, owner);
}

template <class T>
OutArray<T> to_numpy(std::vector<T> values) {
  const std::size_t n = values.size();
  return to_numpy<T, 1>(std::move(values), {n});
}

// A read-only view of a buffer that lives as long as `owner`.
template <class T, int kDims>
OutArray<const T, kDims> view_numpy(const std::vector<T>& values, nb::handle owner,
                                    const std::size_t (&shape)[kDims]) {
  return OutArray<const T, kDims>(values.data(), kDims, shape, owner);
}

template <class T>
OutArray<const T> view_numpy(const std::vector<T>& values, nb::handle owner) {
  return view_numpy<T, 1>(values, owner, {values.size()});
}

}  // namespace arboleda::python
