#include "neighborhood/shapes.h"

#include "calls/class_plan.h"
#include "core/data_type.h"
#include "core/hash.h"

#include <cstdint>

namespace sdpa_graph::neighborhood {
namespace {

// Graphs want multiples of 16 bytes; slices of tensors start anywhere.
std::int64_t alignment_of(Tensor_view const& view) {
    constexpr std::int64_t kMost = 16;
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(view.data) % kMost == 0;
    return is_aligned ? kMost : fe::core::size_of(view.type);
}

}  // namespace

Shapes shapes_of(Call const& call, fe::Target const& target) {
    Shapes shapes;
    shapes.function = call.function;
    shapes.options = call.options;
    shapes.scale = call.attn_scale;
    shapes.type = call.leading().type;
    shapes.is_deterministic = call.place->is_deterministic;
    for (auto const& row : fe::neighborhood::kOperands) {
        if (Tensor_view const* const view = call.at(row.port))
            shapes.tensors[row.port] = {view->dim, view->stride, alignment_of(*view)};
    }
    shapes.target = target.kind();
    shapes.threads = target.threads();
    shapes.device = call.leading().device_index;
    return shapes;
}

// The sizes distinguish most classes; the rest is compared.
std::size_t hash_of(Shapes const& shapes) {
    std::size_t hash = static_cast<std::size_t>(shapes.function);
    Layout const& leading = shapes.tensors[fe::neighborhood::leading_port(shapes.function)];
    for (auto const* const list : {&leading.dim, &shapes.options.kernel_size, &shapes.options.dilation}) {
        for (std::int64_t const size : *list) fe::core::add_size(hash, size);
    }
    return hash;
}

}  // namespace sdpa_graph::neighborhood
