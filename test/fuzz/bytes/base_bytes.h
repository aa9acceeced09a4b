// Bytes that the library wrote, from which cases are made.
#pragma once

#include <cstdint>
#include <string>

namespace fuzz {

constexpr char const* kKinds[] = {"graph", "plan", "graph", "plan", "device", "device bytes"};

// One of several samples of a kind.
std::string const& base_bytes(std::string const& kind, std::uint8_t which);
// A stored plan with a correct checksum, so that the part behind the checksum is read.
std::string with_checksum(std::string plan);

}  // namespace fuzz
