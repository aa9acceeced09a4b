#include "calls/result_memory.h"

#include "calls/view_properties.h"
#include "core/dims.h"
#include "core/text.h"

#include <utility>

namespace sdpa_graph::calls {
namespace {

using fe::core::text;

error_t refusal(AllocationRequest const& request, char const* name, std::string found, std::string needed,
                char const* fix) {
    return fe::core::error_of(
        {request.rule.violation(request.function, name, std::move(found), std::move(needed), fix)});
}

error_t no_memory(AllocationRequest const& request, char const* name, Tensor_view const& wanted) {
    bool const has_allocator = request.place.allocator.allocate != nullptr;
    return refusal(
        request, name, has_allocator ? "no memory from the allocator" : "neither memory nor an allocator",
        text("memory of type ", wanted.type, " for dims ", wanted.dim, ", at a multiple of 16 bytes"),
        has_allocator ? "free memory, or pass the result" : "pass the result, or set the allocator of the place");
}

error_t more_than_memory(AllocationRequest const& request, char const* name, Tensor_view const& wanted) {
    return refusal(request, name, text("dims ", wanted.dim), "at most 2^48 elements, as memory has",
                   "pass lengths and sizes as they are: these follow from them");
}

}  // namespace

Tensor_view view_on_device_of(Tensor_view const& tensor, std::span<std::int64_t const> dim, fe::DataType_t type) {
    Tensor_view view;
    view.dim.assign(dim.begin(), dim.end());
    view.stride = fe::core::packed_strides(view.dim);
    view.type = type;
    view.device = tensor.device;
    view.device_index = tensor.device_index;
    return view;
}

error_t allocate(AllocationRequest const& request, char const* name, Tensor_view& wanted) {
    Allocator const& allocator = request.place.allocator;
    if (is_empty(wanted)) return {};
    if (!is_sound(wanted)) return more_than_memory(request, name, wanted);
    if (allocator.allocate != nullptr) wanted.data = allocator.allocate(allocator.context, name, wanted);
    return wanted.data == nullptr ? no_memory(request, name, wanted) : error_t();
}

fe::Result<Workspace> Workspace::make(AllocationRequest const& request, Tensor_view const& tensor, std::int64_t bytes) {
    Workspace workspace;
    if (tensor.device == Device_kind::CPU) {
        workspace.owned_ = scratch<std::byte>(bytes);
        workspace.data_ = workspace.owned_.get();
        return workspace;
    }
    Tensor_view wanted = view_on_device_of(tensor, {&bytes, 1}, fe::DataType_t::UINT8);
    if (error_t failure = allocate(request, "workspace", wanted); failure.is_bad()) return failure;
    workspace.data_ = wanted.data;
    return workspace;
}

}  // namespace sdpa_graph::calls
