// Ownership of buffers between C++ and NumPy, in one place.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <vector>

namespace arboleda::python {

namespace nb = nanobind;

template <class T>
using InArray = nb::ndarray<const T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Hands a vector over to Python: the array owns it.
template <class T>
nb::object to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T> values) {
  const std::size_t n = values.size();
  return to_numpy(std::move(values), {n});
}

// A read-only view of a buffer that lives as long as `owner`.
template <class T>
nb::object view_numpy(const std::vector<T>& values, nb::handle owner,
                      std::initializer_list<std::size_t> shape) {
  return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), shape, owner));
}

template <class T>
nb::object view_numpy(const std::vector<T>& values, nb::handle owner) {
  return view_numpy(values, owner, {values.size()});
}

}  // namespace arboleda::python
