#include "attention/neighborhood_operands.h"

#include <algorithm>

namespace cudnn_frontend::neighborhood {
namespace {

using core::Dims;

// The dims of tokens, or of one number for each token where the width is 0.
Dims token_dims(TokenSizes const& sizes, bool heads_last, std::int64_t width) {
    Dims dim = sizes.space;
    dim.insert(heads_last ? dim.end() : dim.begin(), sizes.heads);
    dim.insert(dim.begin(), sizes.batches);
    if (width > 0) dim.push_back(width);
    return dim;
}

Dims bias_dims(TokenSizes const& sizes, Options const& options) {
    Dims dim{sizes.heads};
    for (std::int64_t const kernel : options.kernel_size) dim.push_back(2 * kernel - 1);
    return dim;
}

// Larger kernels than the space are a fault of their own, but their dims must not overflow.
bool has_usable_kernel(TokenSizes const& sizes, Options const& options) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    Dims const& kernel = options.kernel_size;
    return kernel.size() == sizes.space.size() &&
           std::ranges::all_of(kernel, [](std::int64_t size) { return size >= 1; }) &&
           window_size(options).value_or(kMost) < kMost;
}

}  // namespace

bool fits(Options const& options, Dims const& space) {
    auto const& [kernel, dilation, causal] = options;
    std::size_t const rank = space.size();
    if (kernel.size() != rank || (!dilation.empty() && dilation.size() != rank)) return false;
    if (!causal.empty() && causal.size() != rank) return false;
    for (std::size_t a = 0; a < rank; ++a) {
        std::int64_t const distance = dilation.empty() ? 1 : dilation[a];
        if (kernel[a] < 1 || distance < 1 || kernel[a] > space[a] / distance) return false;
    }
    return true;
}

std::vector<Axis> axes_of(Options const& options, Dims const& space) {
    std::vector<Axis> axes;
    for (std::size_t a = 0; a < space.size(); ++a) {
        axes.push_back({.length = space[a],
                        .kernel = options.kernel_size[a],
                        .dilation = options.dilation.empty() ? 1 : options.dilation[a],
                        .is_causal = !options.is_causal.empty() && options.is_causal[a]});
    }
    return axes;
}

TokenSizes sizes_of(Function function, Dims const& leading) {
    std::size_t const heads = has_heads_last(function) ? leading.size() - 2 : 1;
    Dims space(leading.begin() + 1, leading.end() - 1);
    space.erase(space.begin() + static_cast<std::ptrdiff_t>(heads) - 1);
    return {leading.front(), leading[heads], leading.back(), std::move(space)};
}

Dims dims_of(Function function, TokenSizes const& sizes, Options const& options, Port port) {
    bool const is_by_kernel = port == Attn || port == DAttn || port == RelPosBias || port == DRelPosBias;
    if (is_by_kernel && !has_usable_kernel(sizes, options)) return {};
    switch (port) {
        case Attn:
        case DAttn: return token_dims(sizes, false, window_size(options).value_or(0));
        case RelPosBias:
        case DRelPosBias: return bias_dims(sizes, options);
        case Stats: return token_dims(sizes, true, 0);
        default: return token_dims(sizes, has_heads_last(function), sizes.width);
    }
}

}  // namespace cudnn_frontend::neighborhood
