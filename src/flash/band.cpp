#include "flash/band.h"

namespace sdpa_graph::flash {
namespace {

std::optional<std::int64_t> bound_of(std::int64_t window, std::int64_t keys) {
    if (window < 0 || window >= keys)
        return std::nullopt;  // also if it would mask keys of some row, as in the
                              // original
    return window;
}

}  // namespace

// The order of the steps is the original's, and differs by function. It decides the effect of a right window together
// with a causal mask, and the form of ALiBi.
Band band_of(Call const& call, Sizes const& sizes) {
    bool const is_single_query = sizes.queries == 1 && !call.has(Argument::AlibiSlopes) && !call.is_backward;
    bool const is_causal = call.is_causal && !is_single_query;
    bool const is_padded_forward = !call.is_packed && !call.is_backward;
    Band band{bound_of(call.window_left, sizes.keys), bound_of(call.window_right, sizes.keys)};
    if (is_causal) band.right = is_padded_forward ? 0 : bound_of(0, sizes.keys);
    // A left window alone also ends on the right, that many keys from the diagonal. Only with more queries than keys is
    // that end reached.
    if (band.left && !band.right && sizes.queries > sizes.keys) band.right = sizes.keys;
    return band;
}

}  // namespace sdpa_graph::flash
