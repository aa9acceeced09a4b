#include "core/neighborhood_operands.h"

#include <algorithm>

namespace cudnn_frontend::neighborhood {
namespace {

using core::Dims;

// The dims of tokens, or of one number for each token where the width is 0.
Dims token_dims(Sizes const& sizes, bool heads_last, std::int64_t width) {
    Dims dim = sizes.space;
    dim.insert(heads_last ? dim.end() : dim.begin(), sizes.heads);
    dim.insert(dim.begin(), sizes.batches);
    if (width > 0) dim.push_back(width);
    return dim;
}

Dims bias_dims(Sizes const& sizes, core::NeighborhoodOptions const& options) {
    Dims dim{sizes.heads};
    for (std::int64_t const kernel : options.kernel_size) dim.push_back(2 * kernel - 1);
    return dim;
}

// Larger kernels than the space are a fault of their own, but their dims must not overflow.
bool has_usable_kernel(Sizes const& sizes, core::NeighborhoodOptions const& options) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    Dims const& kernel = options.kernel_size;
    return kernel.size() == sizes.space.size() &&
           std::ranges::all_of(kernel, [](std::int64_t size) { return size >= 1; }) &&
           core::window_size(options).value_or(kMost) < kMost;
}

}  // namespace

Sizes sizes_of(Function function, Dims const& leading) {
    std::size_t const heads = has_heads_last(function) ? leading.size() - 2 : 1;
    Dims space(leading.begin() + 1, leading.end() - 1);
    space.erase(space.begin() + static_cast<std::ptrdiff_t>(heads) - 1);
    return {leading.front(), leading[heads], leading.back(), std::move(space)};
}

Dims dims_of(Function function, Sizes const& sizes, core::NeighborhoodOptions const& options, Port port) {
    bool const is_by_kernel = port == Attn || port == dAttn || port == Rel_pos_bias || port == dRel_pos_bias;
    if (is_by_kernel && !has_usable_kernel(sizes, options)) return {};
    switch (port) {
        case Attn:
        case dAttn: return token_dims(sizes, false, core::window_size(options).value_or(0));
        case Rel_pos_bias:
        case dRel_pos_bias: return bias_dims(sizes, options);
        case Stats: return token_dims(sizes, true, 0);
        default: return token_dims(sizes, has_heads_last(function), sizes.width);
    }
}

}  // namespace cudnn_frontend::neighborhood
