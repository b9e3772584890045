#include "io/foreign.h"

#include <array>
#include <string_view>

namespace arboleda {

namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view begin;
  std::string_view name;
};

constexpr auto kPickle =
    "a pickle or joblib file, which runs code when it is loaded: open it with "
    "what wrote it, if you trust it, and save() the model"sv;

constexpr std::array kSignatures{
    Signature{"\x80\x02"sv, kPickle},
    Signature{"\x80\x03"sv, kPickle},
    Signature{"\x80\x04"sv, kPickle},
    Signature{"\x80\x05"sv, kPickle},
    Signature{"PK\x03\x04"sv, "a zip archive"},
    Signature{"PK\x05\x06"sv, "a zip archive"},
    Signature{"\x1F\x8B"sv, "a gzip file: unpack it first"},
    Signature{"x\x01"sv, "compressed by zlib, as joblib does"},
    Signature{"x\x5E"sv, "compressed by zlib, as joblib does"},
    Signature{"x\x9C"sv, "compressed by zlib, as joblib does"},
    Signature{"x\xDA"sv, "compressed by zlib, as joblib does"},
    Signature{"BZh"sv, "a bzip2 file: unpack it first"},
    Signature{"\xFD"
              "7zXZ\0"sv,
              "an xz file: unpack it first"},
    Signature{"\x28\xB5\x2F\xFD"sv, "a zstd file: unpack it first"},
    Signature{"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
    Signature{"\x93NUMPY"sv, "a NumPy array"},
    Signature{"\x89HDF\r\n\x1A\n"sv, "an HDF5 file"},
    Signature{"SQLite format 3\0"sv, "an SQLite database"},
    Signature{"\x7F"
              "ELF"sv,
              "a program"},
    Signature{"tree\n"sv, "a text of LightGBM"},
    Signature{"{"sv, "JSON text"},
};

}  // namespace

std::string describe_foreign(ByteView begin) {
  std::string text;
  for (const std::byte byte : begin.first(std::min<std::size_t>(begin.size(), 32))) {
    text.push_back(std::to_integer<char>(byte));
  }
  // The first byte is above 127 and line ends of both kinds follow: what transfers of text change.
  const std::size_t name = text.substr(0, 8).find("ARB");
  if (name != std::string::npos && name > 0) {
    return "a model file that was sent as text and damaged by it: send it again as binary";
  }
  for (const auto& [signature, what] : kSignatures) {
    if (text.starts_with(signature)) return std::string(what);
  }
  return "something else";
}

}  // namespace arboleda
