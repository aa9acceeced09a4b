// Where a quirk applies: releases of cuDNN and architectures of GPUs.
#pragma once

#include "core/text.h"

#include <cstddef>
#include <string>

namespace cudnn_frontend::quirks {

using core::version_text;

// The cuDNN version and the device of a plan: a value, so that tests can choose any.
struct Capabilities {
    std::size_t cudnn_version = 0;  // 91900 for 9.19.0
    int sm = 0;                     // compute capability, 90 for 9.0
};

// Releases from the first up to the one that ended the quirk, 91900 for 9.19.0; 0: since the first release, or without
// an end.
struct Versions {
    std::size_t from = 0, until = 0;

    constexpr bool contain(std::size_t version) const { return version >= from && (until == 0 || version < until); }
};

std::string to_text(Versions const& versions);  // "9.11.0 to below 9.13.0", "every"

// A set of compute capabilities.
class Architectures {
   public:
    constexpr explicit Architectures(unsigned families) : families_(families) {}

    constexpr bool contain(int sm) const { return (families_ & family_of(sm)) != 0; }
    constexpr Architectures operator|(Architectures other) const { return Architectures(families_ | other.families_); }
    constexpr Architectures operator-(Architectures other) const { return Architectures(families_ & ~other.families_); }
    std::string to_text() const;  // "9.0, 10.x and 11.x"

    friend constexpr bool operator==(Architectures const&, Architectures const&) = default;

   private:
    static constexpr unsigned family_of(int sm) { return sm < 80 ? 1 : sm < 90 ? 2 : sm < 100 ? 4 : sm < 120 ? 8 : 16; }

    unsigned families_;
};

constexpr Architectures kOlder{1};                // older than 8.0
constexpr Architectures kAmpere{2};               // 8.x, Ada among them
constexpr Architectures kHopper{4};               // 9.0
constexpr Architectures kDatacenterBlackwell{8};  // 10.x and 11.x
constexpr Architectures kConsumerBlackwell{16};   // 12.x and later
constexpr Architectures kEvery{31};

}  // namespace cudnn_frontend::quirks
