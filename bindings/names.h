// Choices of the core by their names in Python: a table of pairs of name and value for each choice.
#pragma once

#include <string>

#include "base/error.h"

namespace arboleda::python {

// Throws Error(invalid_argument) with the message for a name that is not in the table.
template <class Names>
auto value_of(const Names& names, const std::string& name, const std::string& message) {
  for (const auto& [known, value] : names) {
    if (name == known) return value;
  }
  throw Error(ErrorKind::invalid_argument, message);
}

template <class Names, class Value>
std::string name_of(const Names& names, Value value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  throw Error(ErrorKind::internal, "a choice of the core has no name");
}

}  // namespace arboleda::python
