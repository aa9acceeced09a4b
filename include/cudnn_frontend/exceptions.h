// Exceptions that programs written for the existing frontend catch. This library never throws them.
#pragma once

#include <stdexcept>

namespace cudnn_frontend {

#if defined(SDPA_GRAPH_HAS_CUDNN_HEADER)
class cudnnException : public std::runtime_error {
   public:
    cudnnException(char const* message, cudnnStatus_t status) : std::runtime_error(message), error_status(status) {}
    cudnnStatus_t getCudnnStatus() const { return error_status; }

    cudnnStatus_t error_status;
};
#endif

class cudnnGraphNotSupportedException : public std::runtime_error {
   public:
    explicit cudnnGraphNotSupportedException(char const* message) : std::runtime_error(message) {}
};

}  // namespace cudnn_frontend
