// Errors of a graph that has a name say it: a program may hold many.
#pragma once

#include "api/graph_impl.h"
#include "core/guard.h"

#include <exception>
#include <string>

namespace cudnn_frontend::api {

// Where memory is lacking for the name, the error stays as it is.
inline error_t of_graph(graph::Graph::Impl const* impl, error_t error) noexcept {
    if (error.is_good() || impl == nullptr || impl->name.empty()) return error;
    try {
        error.err_msg.insert(0, "graph '" + impl->name + "': ");
    } catch (std::exception const&) {
    }
    return error;
}

template <class Body>
error_t guarded_in(graph::Graph::Impl const* impl, Body const& body) noexcept {
    return of_graph(impl, core::guarded(body));
}

}  // namespace cudnn_frontend::api
