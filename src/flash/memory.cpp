#include "flash/memory.h"

#include "core/data_type.h"
#include "core/dims.h"
#include "flash/rules.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace sdpa_graph::flash {
namespace {

error_t no_memory(Call const& call, char const* name, Tensor_view const& wanted) {
    bool const has_allocator = call.place->allocator.allocate != nullptr;
    fe::Finding const finding = {
        memory_rule().code,
        {memory_rule().id, call.function, name},
        has_allocator ? "no memory from the allocator" : "neither memory nor an allocator",
        text("memory of type ", wanted.type, " for dims ", wanted.dim, ", at a multiple of 16 bytes"),
        has_allocator ? "free memory, or pass the result" : "pass the result, or set the allocator of the place"};
    return fe::Report({finding}).to_error();
}

error_t allocate(Call const& call, char const* name, Tensor_view& wanted) {
    Allocator const& allocator = call.place->allocator;
    if (elements_of(wanted) == 0) return {};
    if (allocator.allocate != nullptr) wanted.data = allocator.allocate(allocator.context, name, wanted);
    return wanted.data == nullptr ? no_memory(call, name, wanted) : error_t();
}

Tensor_view wanted_view(Call const& call, core_dims const& dim, DataType_t type) {
    Tensor_view const& q = *call.at(Argument::Q);
    Tensor_view view;
    view.dim = dim;
    view.stride = row_major(dim);
    view.type = type;
    view.device = q.device;
    view.device_index = q.device_index;
    return view;
}

void fill_zeros(std::byte* first, Tensor_view const& view, std::size_t dim, std::size_t bytes) {
    auto const count = static_cast<std::size_t>(view.dim[dim]);
    if (dim + 1 == view.dim.size()) {
        std::memset(first, 0, count * bytes);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        fill_zeros(first + i * static_cast<std::size_t>(view.stride[dim]) * bytes, view, dim + 1, bytes);
}

}  // namespace

error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& result) {
    if (call.has(argument)) {
        result = *call.at(argument);
    } else {
        result = wanted_view(call, wanted_dims(call, sizes, argument), type);
        SDPA_GRAPH_TRY(allocate(call, name_of(argument), result));
    }
    call.set(argument, result);
    return {};
}

fe::Result<Workspace> Workspace::make(Call const& call, std::int64_t bytes) {
    Workspace workspace;
    if (call.at(Argument::Q)->device == Device_kind::CPU) {
        workspace.owned_ = scratch<std::byte>(bytes);
        workspace.data_ = workspace.owned_.get();
        return workspace;
    }
    Tensor_view wanted = wanted_view(call, {bytes}, DataType_t::UINT8);
    if (error_t failure = allocate(call, "workspace", wanted); failure.is_bad()) return failure;
    workspace.data_ = wanted.data;
    return workspace;
}

void fill_zeros(Tensor_view const& view) {
    if (view.data == nullptr || elements_of(view) == 0) return;
    fill_zeros(static_cast<std::byte*>(view.data), view, 0, static_cast<std::size_t>(fe::core::size_of(view.type)));
}

void fill(Tensor_view const& contiguous_floats, float value) {
    std::fill_n(static_cast<float*>(contiguous_floats.data), elements_of(contiguous_floats), value);
}

std::int64_t elements_of(Tensor_view const& view) {
    return fe::core::volume(view.dim).value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace sdpa_graph::flash
