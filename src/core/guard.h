// The boundary to the caller: an exception from within, in practice lack of memory, becomes an error.
#pragma once

#include <cudnn_frontend/status.h>

namespace cudnn_frontend::core {

// The error for the exception that is being handled.
error_t error_of_exception() noexcept;

template <class Body>
error_t guarded(Body const& body) noexcept {
    try {
        return body();
    } catch (...) {
        return error_of_exception();
    }
}

// Guards calls that cannot return an error: they return the fallback's result.
template <class Body, class Fallback>
auto guarded_or(Fallback const& fallback, Body const& body) -> decltype(body()) {
    try {
        return body();
    } catch (...) {
        return fallback(error_of_exception());
    }
}

}  // namespace cudnn_frontend::core
