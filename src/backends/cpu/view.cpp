#include "cpu/view.h"

#include "cpu/memory.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

View make_view(ir::Value const& value, void* data) {
    View view;
    view.data = data;
    view.type = stored_type(value);
    // Dims beyond four have one element.
    std::size_t const count = std::min(value.dim.size(), view.dim.size());
    std::copy_n(value.dim.rbegin(), count, view.dim.rbegin());
    std::copy_n(value.stride.rbegin(), count, view.stride.rbegin());
    return view;
}

}  // namespace cudnn_frontend::cpu
