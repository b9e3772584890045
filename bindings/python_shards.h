// Shards whose connection is an object of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "arrays.h"
#include "base/error.h"
#include "base/shards.h"

namespace arboleda::python {

// The connection to other shards: src/arboleda/_engine/shards.py. Called with the GIL released.
class PythonShards final : public Shards {
 public:
  PythonShards(const nb::object& shards, std::uint64_t first_row)
      : Shards(nb::cast<std::size_t>(shards.attr("number")),
               nb::cast<std::size_t>(shards.attr("count")), first_row),
        shards_(shards) {}

  void add(std::span<std::uint64_t> values) const override { call("add", values); }
  void maximum(std::span<std::uint64_t> values) const override { call("maximum", values); }

  void count_opened(std::size_t n_nodes, std::size_t n_histograms,
                    std::size_t n_codes) const override {
    const nb::gil_scoped_acquire gil;
    shards_.attr("count_opened")(n_nodes, n_histograms, n_codes);
  }

 private:
  void call(const char* method, std::span<std::uint64_t> values) const {
    const nb::gil_scoped_acquire gil;
    try {
      // With an owner the array is a view, whoever that is.
      shards_.attr(method)(OutArray<std::uint64_t>(values.data(), {values.size()}, shards_));
    } catch (nb::python_error& error) {
      const auto lost = nb::module_::import_("arboleda._utils.errors").attr("ShardLostError");
      if (!error.matches(lost)) throw;
      throw Error(ErrorKind::shard_lost, nb::cast<std::string>(nb::str(error.value())));
    }
  }

  nb::object shards_;
};

// None: the table is whole.
inline std::optional<PythonShards> connect(const nb::object& shards, std::uint64_t first_row = 0) {
  if (shards.is_none()) return std::nullopt;
  return std::optional<PythonShards>(std::in_place, shards, first_row);
}

}  // namespace arboleda::python
