// What bindings of functions over tensors share, which take tensors of torch.
#pragma once

#include "graph.h"

#include <sdpa_graph/place.h>

#include <exception>
#include <map>
#include <optional>
#include <string>

namespace binding {

// The tensors of a call by the names of the arguments and results.
class Tensors {
   public:
    explicit Tensors(py::dict const& tensors);

    bool has(char const* name) const { return views_.count(name) > 0 && views_.at(name).data != nullptr; }
    sdpa_graph::Tensor_view at(char const* name) const {
        return views_.count(name) > 0 ? views_.at(name) : sdpa_graph::Tensor_view();
    }
    std::optional<sdpa_graph::Tensor_view> maybe(char const* name) const {
        return has(name) ? std::optional(at(name)) : std::nullopt;
    }

   private:
    std::map<std::string, sdpa_graph::Tensor_view> views_;
};

// A workspace is asked for from Python: a callable from a number of bytes to a tensor, which it keeps.
struct Workspaces {
    py::function make;
    std::exception_ptr failure;

    sdpa_graph::Place place(std::uintptr_t stream);
    // Raises the call's error, or the one that making memory raised.
    void check_call(fe::error_t const& error) const;
};

}  // namespace binding
