// CRC-32C (Castagnoli): the checksum of iSCSI (RFC 3720, appendix B.4), ext4 and others. It finds
// every change of up to 32 neighbouring bits and all but 1 in 2^32 of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace arboleda {

std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace arboleda
