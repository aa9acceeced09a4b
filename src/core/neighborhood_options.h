// The options that the functions of neighborhood attention share. Lists that a program may leave out are empty then.
#pragma once

#include "core/dims.h"
#include "core/neighborhood.h"

#include <vector>

namespace cudnn_frontend::core {

struct NeighborhoodOptions {
    Dims kernel_size;             // for each axis of space
    Dims dilation;                // empty: 1 along each
    std::vector<bool> is_causal;  // empty: along none

    friend bool operator==(NeighborhoodOptions const&, NeighborhoodOptions const&) = default;
};

// Whether the lists have an entry for each axis, or none where they may, and each window fits its axis.
bool fits(NeighborhoodOptions const& options, Dims const& space);

// The axes of a space that the options fit.
std::vector<neighborhood::Axis> axes_of(NeighborhoodOptions const& options, Dims const& space);

// The slots of a window; empty on overflow.
inline std::optional<std::int64_t> window_size(NeighborhoodOptions const& options) {
    return volume(options.kernel_size);
}

}  // namespace cudnn_frontend::core
