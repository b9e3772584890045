// Files of other formats that users pass to the loader by mistake.
#pragma once

#include <string>

#include "io/bytes.h"

namespace arboleda {

// What a file that is no model file seems to be, by its first bytes, and what to do then.
std::string describe_foreign(ByteView begin);

}  // namespace arboleda
