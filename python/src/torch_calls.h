// Shared parts of the bindings of functions over tensors of torch and arrays of NumPy.
#pragma once

#include "graph.h"

#include <sdpa_graph/place.h>

#include <exception>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace binding {

// The tensors of a call by the names of the arguments and results, which the dict owns.
class Tensors {
   public:
    explicit Tensors(py::dict const& tensors);

    bool has(std::string_view name) const { return at(name).data != nullptr; }
    // A view without memory if the call has no such tensor.
    sdpa_graph::Tensor_view const& at(std::string_view name) const;
    std::optional<sdpa_graph::Tensor_view> maybe(std::string_view name) const {
        return has(name) ? std::optional(at(name)) : std::nullopt;
    }
    // The current stream of torch on the tensors' device; null on a host.
    CUstream_st* current_stream() const;

   private:
    std::vector<std::pair<std::string_view, sdpa_graph::Tensor_view>> views_;  // so few that a search is short
    std::vector<py::object> owners_;                                           // of what arrays of NumPy export
};

// Gets workspaces from Python: a callable from dims to a tensor of bytes, which is kept during the call.
struct Workspaces {
    py::function make;
    std::vector<py::object> kept;
    std::exception_ptr failure;

    sdpa_graph::Place place(CUstream_st* stream);
    // Raises the call's error, or that of making memory.
    void check_call(fe::error_t const& error) const;
};

// Calls call(tensors, place) without Python's lock.
template <class Call>
void run_call(py::dict const& tensors, py::function const& workspace, Call const& call) {
    Tensors const views(tensors);
    Workspaces workspaces{workspace, {}, nullptr};
    sdpa_graph::Place const place = workspaces.place(views.current_stream());
    fe::error_t error;
    {
        py::gil_scoped_release const unlocked;
        error = call(views, place);
    }
    workspaces.check_call(error);
}

}  // namespace binding
