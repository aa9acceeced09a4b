#include "torch_calls.h"

#include "enums.h"
#include "errors.h"
#include "exchange.h"
#include "memory.h"

#include <pybind11/stl.h>

namespace binding {

using sdpa_graph::Device_kind;
using sdpa_graph::Tensor_view;

namespace {

// Reads the attributes of a tensor that has no table of C functions, or memory that only its attributes describe.
Tensor_view view_of_attributes(py::handle tensor) {
    Tensor_view view;
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

// Tensors that require gradients are accepted too.
Tensor_view view_of_torch(py::handle tensor) {
    Tensor_view view;
    auto const told = exchanged(tensor);
    bool const is_told = told && sdpa_graph::make_view(*told, view).is_good() && is_of_program(view.data);
    return is_told ? view : view_of_attributes(tensor);
}

std::string_view text_of(py::handle name) {
    py::ssize_t size = 0;
    char const* const text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();
    return {text, static_cast<std::size_t>(size)};
}

}  // namespace

// Tensors of torch have no buffer, unlike arrays of NumPy. None becomes a view without data.
Tensors::Tensors(py::dict const& tensors) {
    views_.reserve(tensors.size());
    for (auto const& [name, tensor] : tensors) {
        Tensor_view view;
        if (PyObject_CheckBuffer(tensor.ptr()) != 0) {
            Memory memory = memory_of(tensor).value();
            view = std::move(memory.view);
            owners_.push_back(std::move(memory.owner));
        } else if (!tensor.is_none()) {
            view = view_of_torch(tensor);
        }
        views_.emplace_back(text_of(name), std::move(view));
    }
}

Tensor_view const& Tensors::at(std::string_view name) const {
    static Tensor_view const none;
    for (auto const& [known, view] : views_)
        if (known == name) return view;
    return none;
}

CUstream_st* Tensors::current_stream() const {
    for (auto const& [name, view] : views_)
        if (view.device == Device_kind::CUDA) return reinterpret_cast<CUstream_st*>(stream_of_torch(view.device_index));
    return nullptr;
}

sdpa_graph::Place Workspaces::place(CUstream_st* stream) {
    sdpa_graph::Place place;
    place.stream = stream;
    place.allocator.context = this;
    place.allocator.allocate = [](void* context, char const*, Tensor_view const& wanted) -> void* {
        auto& workspaces = *static_cast<Workspaces*>(context);
        py::gil_scoped_acquire const lock;
        try {
            workspaces.kept.push_back(workspaces.make(wanted.dim));
            return view_of_torch(workspaces.kept.back()).data;
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
