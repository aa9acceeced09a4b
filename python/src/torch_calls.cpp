#include "torch_calls.h"

#include "enums.h"
#include "errors.h"

#include <pybind11/stl.h>

#include <vector>

namespace binding {

using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

namespace {

// By address, shape and strides, so that tensors that require gradients serve as well. None: a view without data.
Tensor_view view_of_torch(py::handle tensor) {
    Tensor_view view;
    if (tensor.is_none()) return view;
    view.data = reinterpret_cast<void*>(tensor.attr("data_ptr")().cast<std::uintptr_t>());
    view.dim = py::tuple(tensor.attr("shape")).cast<std::vector<std::int64_t>>();
    view.stride = tensor.attr("stride")().cast<std::vector<std::int64_t>>();
    view.type = data_type_of(tensor.attr("dtype"));
    py::object const device = tensor.attr("device");
    auto const kind = device.attr("type").cast<std::string>();
    view.device = kind == "cpu" ? Device_kind::CPU : kind == "cuda" ? Device_kind::CUDA : Device_kind::UNKNOWN;
    if (view.device == Device_kind::CUDA) view.device_index = device.attr("index").cast<std::int32_t>();
    return view;
}

}  // namespace

Tensors::Tensors(py::dict const& tensors) {
    for (auto const& [name, tensor] : tensors)
        views_.emplace(name.cast<std::string>(), view_of_torch(py::reinterpret_borrow<py::object>(tensor)));
}

sdpa_graph::Place Workspaces::place(std::uintptr_t stream) {
    sdpa_graph::Place place;
    place.stream = reinterpret_cast<CUstream_st*>(stream);
    place.allocator.context = this;
    place.allocator.allocate = [](void* context, char const*, Tensor_view const& wanted) -> void* {
        auto& workspaces = *static_cast<Workspaces*>(context);
        py::gil_scoped_acquire const lock;
        try {
            return view_of_torch(workspaces.make(wanted.dim)).data;
        } catch (...) {
            workspaces.failure = std::current_exception();
            return nullptr;
        }
    };
    return place;
}

void Workspaces::check_call(fe::error_t const& error) const {
    if (failure != nullptr) std::rethrow_exception(failure);
    check(error);
}

}  // namespace binding
