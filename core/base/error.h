// The one error type of the core. Bindings map each kind to one exception of the caller's language.
#pragma once

#include <stdexcept>
#include <string>

namespace arboleda {

enum class ErrorKind {
  invalid_argument,  // the caller gave something that cannot be used
  bad_format,        // a file or a stored state is not what it should be
  interrupted,       // the caller's stop flag was seen
  shard_lost,        // another shard of the table has failed
  internal,          // an invariant of the engine does not hold: a defect
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

// Throws when an argument breaks the documented contract of a function.
inline void require(bool holds, const char* message) {
  if (!holds) throw Error(ErrorKind::invalid_argument, message);
}

}  // namespace arboleda
