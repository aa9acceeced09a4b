// The border to the caller: an exception of the standard library, in practice lack of memory, becomes an error.
#pragma once

#include <cudnn_frontend/status.h>

#include <exception>
#include <new>
#include <string>

namespace cudnn_frontend::inline v1::pipeline {

template <class Body>
error_t guarded(Body const& body) {
    try {
        return body();
    } catch (std::bad_alloc const&) {
        return {error_code_t::GRAPH_EXECUTION_FAILED, "out of memory"};
    } catch (std::exception const& exception) {
        return {error_code_t::GRAPH_EXECUTION_FAILED, std::string("unexpected failure: ") + exception.what()};
    }
}

// For calls that cannot return an error: the fallback's result stands for it.
template <class Body, class Fallback>
auto guarded_or(Fallback const& fallback, Body const& body) -> decltype(body()) {
    try {
        return body();
    } catch (std::exception const&) {
        return fallback();
    }
}

}  // namespace cudnn_frontend::inline v1::pipeline
