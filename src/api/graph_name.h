// Errors of a graph that has a name say it: a program may hold many.
#pragma once

#include "api/graph_impl.h"
#include "core/guard.h"

#include <exception>
#include <string>

namespace cudnn_frontend::api {

// Where memory is lacking for the name, the error stays as it is.
[[gnu::cold]] inline void name_graph(graph::Graph::Impl const* impl, error_t& error) noexcept {
    if (impl == nullptr || impl->name.empty()) return;
    try {
        error.err_msg.insert(0, "graph '" + impl->name + "': ");
    } catch (std::exception const&) {
    }
}

template <class Body>
error_t guarded_in(graph::Graph::Impl const* impl, Body const& body) noexcept {
    error_t error = core::guarded(body);
    if (error.is_bad()) name_graph(impl, error);
    return error;
}

}  // namespace cudnn_frontend::api
