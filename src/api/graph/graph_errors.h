// The errors of a graph. If it has a name, they say it: a program may hold many.
#pragma once

#include "api/graph/graph_impl.h"
#include "core/guard.h"

#include <cudnn_frontend/status.h>

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

// The error of a stage when an earlier one is missing.
inline error_t missing_stage(error_code_t code, char const* call, char const* needed) {
    return {code,
            std::string(call) + " needs the result of " + needed + "; call that first, or build() for all stages"};
}

}  // namespace cudnn_frontend::api
