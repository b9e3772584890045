// The loader under libFuzzer: every input as it is, and with its checksums put right.
//
//   make fuzz ARGS=-max_total_time=600
#include <cstddef>
#include <cstdint>

#include "io/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  arboleda::Bytes file(begin, begin + size);
  arboleda::fuzzing::load_and_use(file);
  arboleda::fuzzing::mend(file);
  arboleda::fuzzing::load_and_use(file);
  return 0;
}
