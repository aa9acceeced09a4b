#include "core/neighborhood_options.h"

namespace cudnn_frontend::core {

bool fits(NeighborhoodOptions const& options, Dims const& space) {
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

std::vector<neighborhood::Axis> axes_of(NeighborhoodOptions const& options, Dims const& space) {
    std::vector<neighborhood::Axis> axes;
    for (std::size_t a = 0; a < space.size(); ++a) {
        axes.push_back({.length = space[a],
                        .kernel = options.kernel_size[a],
                        .dilation = options.dilation.empty() ? 1 : options.dilation[a],
                        .is_causal = !options.is_causal.empty() && options.is_causal[a]});
    }
    return axes;
}

}  // namespace cudnn_frontend::core
