#include "calls/views.h"

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
    return std::ranges::all_of(view.dim, [](std::int64_t size) { return size >= 0; }) &&
           cudnn_frontend::core::volume(view.dim).has_value() && view.stride.size() == view.dim.size();
}

std::string device_text(Tensor_view const& view) {
    if (view.device == Device_kind::CPU) return "a CPU";
    if (view.device == Device_kind::CUDA) return cudnn_frontend::core::text("GPU ", view.device_index);
    return "an unknown device";
}

}  // namespace sdpa_graph::calls
