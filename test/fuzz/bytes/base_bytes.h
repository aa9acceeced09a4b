// What the library writes, from which others are made.
#pragma once

#include <cstdint>
#include <string>

namespace fuzz {

constexpr char const* kKinds[] = {"graph", "plan", "graph", "plan", "device", "device bytes"};

// Of a kind: one of some.
std::string const& base_bytes(std::string const& kind, std::uint8_t which);
// A stored plan with the checksum that belongs to it, so that what is behind the checksum is read.
std::string with_checksum(std::string plan);

}  // namespace fuzz
