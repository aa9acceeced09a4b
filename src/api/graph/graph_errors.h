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

// An error if plans for such targets cannot run on the queue.
inline error_t check_queue(Target::Kind planned_for, detail::Run_queue const& queue) {
    bool const is_for_stream = planned_for == Target::Kind::STREAM;
    bool const needs_handle = planned_for == Target::Kind::CUDA || planned_for == Target::Kind::OFFLINE;
    if (queue.is_stream ? !needs_handle : !is_for_stream) return {};
    return {
        error_code_t::INVALID_VALUE,
        queue.is_stream
            ? "the plan was built for a cuDNN handle, and the call has a Cuda_stream; pass a handle, whose "
              "stream runtime::set_stream() sets"
            : "the plan was built for Target::cuda(Cuda_stream), and the call has none; pass one, which may be that of "
              "the default stream"};
}

}  // namespace cudnn_frontend::api
