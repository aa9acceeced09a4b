#include "calls/memory.h"

#include "calls/views.h"
#include "core/data_type.h"

#include <cstring>

namespace sdpa_graph::calls {
namespace {

error_t no_memory(Asker const& asker, char const* name, Tensor_view const& wanted) {
    bool const has_allocator = asker.place.allocator.allocate != nullptr;
    Findings findings(asker.function);
    findings.report(
        asker.condition, name, has_allocator ? "no memory from the allocator" : "neither memory nor an allocator",
        text("memory of type ", wanted.type, " for dims ", wanted.dim, ", at a multiple of 16 bytes"),
        has_allocator ? "free memory, or pass the result" : "pass the result, or set the allocator of the place");
    return std::move(findings).to_error();
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

Tensor_view view_beside(Tensor_view const& tensor, std::span<std::int64_t const> dim, fe::DataType_t type) {
    Tensor_view view;
    view.dim.assign(dim.begin(), dim.end());
    view.stride = row_major(view.dim);
    view.type = type;
    view.device = tensor.device;
    view.device_index = tensor.device_index;
    return view;
}

error_t allocate(Asker const& asker, char const* name, Tensor_view& wanted) {
    Allocator const& allocator = asker.place.allocator;
    if (elements_of(wanted) == 0) return {};
    if (allocator.allocate != nullptr) wanted.data = allocator.allocate(allocator.context, name, wanted);
    return wanted.data == nullptr ? no_memory(asker, name, wanted) : error_t();
}

fe::Result<Workspace> Workspace::make(Asker const& asker, Tensor_view const& beside, std::int64_t bytes) {
    Workspace workspace;
    if (beside.device == Device_kind::CPU) {
        workspace.owned_ = scratch<std::byte>(bytes);
        workspace.data_ = workspace.owned_.get();
        return workspace;
    }
    Tensor_view wanted = view_beside(beside, {&bytes, 1}, fe::DataType_t::UINT8);
    if (error_t failure = allocate(asker, "workspace", wanted); failure.is_bad()) return failure;
    workspace.data_ = wanted.data;
    return workspace;
}

void fill_zeros(Tensor_view const& view) {
    if (view.data == nullptr || is_empty(view)) return;
    fill_zeros(static_cast<std::byte*>(view.data), view, 0, static_cast<std::size_t>(fe::core::size_of(view.type)));
}

}  // namespace sdpa_graph::calls
