#include "calls/view_properties.h"

#include "core/dims.h"
#include "core/text.h"

#include <algorithm>
#include <limits>

namespace sdpa_graph::calls {

std::int64_t elements_of(Tensor_view const& view) {
    return cudnn_frontend::core::volume(view.dim).value_or(std::numeric_limits<std::int64_t>::max());
}

bool is_empty(Tensor_view const& view) { return std::ranges::count(view.dim, 0) > 0; }

bool is_contiguous(Tensor_view const& view) {
    if (is_empty(view)) return true;
    std::int64_t packed = 1;
    for (std::size_t i = view.dim.size(); i-- > 0; packed *= view.dim[i]) {
        if (view.dim[i] > 1 && view.stride[i] != packed) return false;
    }
    return true;
}

bool is_sound(Tensor_view const& view) {
    using cudnn_frontend::core::saturating_add;
    using cudnn_frontend::core::saturating_multiply;
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    if (view.stride.size() != view.dim.size()) return false;
    std::int64_t elements = 1, reach = 0;
    for (std::size_t i = 0; i < view.dim.size(); ++i) {
        std::int64_t const size = view.dim[i], stride = view.stride[i];
        if (size < 0 || size > kMost) return false;
        elements = saturating_multiply(elements, std::max<std::int64_t>(size, 1));
        if (size <= 1) continue;                                        // the stride does not matter
        std::int64_t const step = stride < 0 ? -(stride + 1) : stride;  // one less if negative: it never overflows
        reach = saturating_add(reach, saturating_multiply(size - 1, step));
    }
    return elements <= kMost && (reach <= kMost || is_empty(view));
}

std::string device_text(Tensor_view const& view) {
    if (view.device == Device_kind::CPU) return "a CPU";
    if (view.device == Device_kind::CUDA) return cudnn_frontend::core::text("GPU ", view.device_index);
    return "an unknown device";
}

}  // namespace sdpa_graph::calls
