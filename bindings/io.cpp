// The model file: bytes to its parts and back.
#include "areas.h"
#include "arrays.h"
#include "io/model_file.h"

namespace arboleda::python {

namespace {

template <class T>
using AnyShape = nb::ndarray<const T, nb::numpy, nb::c_contig, nb::device::cpu>;

template <class T>
NamedArray named_array(const std::string& name, const AnyShape<T>& array) {
  NamedArray named{name, {}, std::vector<T>(array.data(), array.data() + array.size())};
  for (std::size_t d = 0; d < array.ndim(); ++d) named.shape.push_back(array.shape(d));
  return named;
}

NamedArray named_array(nb::handle item) {
  const auto pair = nb::cast<nb::tuple>(item);
  const std::string name = nb::cast<nb::str>(pair[0]).c_str();
  AnyShape<double> numbers;
  if (nb::try_cast(pair[1], numbers, false)) return named_array<double>(name, numbers);
  return named_array<std::int64_t>(name, nb::cast<AnyShape<std::int64_t>>(pair[1], false));
}

}  // namespace

std::vector<NamedArray> to_arrays(nb::list arrays) {
  std::vector<NamedArray> parts;
  for (nb::handle array : arrays) parts.push_back(named_array(array));
  return parts;
}

nb::tuple to_python(NamedArray named) {
  const std::vector<std::size_t> shape(named.shape.begin(), named.shape.end());
  return std::visit(
      [&]<class T>(std::vector<T>& numbers) {
        auto* owned = new std::vector<T>(std::move(numbers));
        nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        return nb::make_tuple(nb::str(named.name.c_str()),
                              nb::ndarray<nb::numpy, T, nb::c_contig>(owned->data(), shape.size(),
                                                                      shape.data(), owner));
      },
      named.numbers);
}

namespace {

template <class Part>
std::vector<const Part*> parts_of(nb::list list) {
  std::vector<const Part*> parts;
  for (nb::handle part : list) parts.push_back(nb::cast<const Part*>(part));
  return parts;
}

nb::bytes write(nb::bytes header, nb::list trees, nb::list forests, nb::list arrays) {
  return to_bytes(write_model({header.c_str(), header.size()}, parts_of<Tree>(trees),
                              to_arrays(arrays), parts_of<Forest>(forests)));
}

nb::tuple read(nb::bytes file) {
  ModelFile model;
  {
    const nb::gil_scoped_release unlocked;
    model = read_model(view_bytes(file));
  }
  nb::list trees;
  for (Tree& tree : model.trees) trees.append(nb::cast(std::move(tree)));
  nb::list forests;
  for (Forest& forest : model.forests) forests.append(nb::cast(std::move(forest)));
  nb::list arrays;
  for (NamedArray& array : model.arrays) arrays.append(to_python(std::move(array)));
  return nb::make_tuple(nb::bytes(model.header.data(), model.header.size()), trees, forests,
                        arrays);
}

nb::bytes read_header(nb::bytes begin) {
  const std::string header = read_model_header(view_bytes(begin));
  return nb::bytes(header.data(), header.size());
}

}  // namespace

nb::bytes to_bytes(const Bytes& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

ByteView view_bytes(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

void init_io(nb::module_& m) {
  m.attr("MODEL_FORMAT_VERSION") = kModelFormatVersion;
  m.attr("MODEL_PREAMBLE_SIZE") = kPreambleSize;
  m.def("write_model", &write, nb::arg("header"), nb::arg("trees"), nb::arg("forests"),
        nb::arg("arrays"));
  m.def("read_model", &read, nb::arg("file"));
  m.def("read_model_header", &read_header, nb::arg("begin"));
  m.def(
      "check_model_preamble",
      [](nb::bytes begin, std::uint64_t file_size) {
        return check_preamble(view_bytes(begin), file_size);
      },
      nb::arg("begin"), nb::arg("file_size"));
}

}  // namespace arboleda::python
