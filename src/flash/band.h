// Which keys are visible to a query, from the causal flag and the windows.
#pragma once

#include "flash/call.h"

#include <optional>

namespace sdpa_graph::flash {

// With shift = keys - queries of a sequence, keeps i + shift - left <= j <= i + shift + right.
struct Band {
    std::optional<std::int64_t> left, right;

    bool is_causal() const { return !left && right == 0; }
    bool operator==(Band const&) const = default;
};

Band band_of(Call const& call, Sizes const& sizes);

}  // namespace sdpa_graph::flash
