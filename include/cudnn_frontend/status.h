// The one error channel of the library: nothing throws, prints or aborts.
#pragma once

#include "export.h"

#include <iosfwd>
#include <string>

namespace cudnn_frontend {
inline namespace v1 {

enum class [[nodiscard]] error_code_t{
    OK,
    ATTRIBUTE_NOT_SET,
    SHAPE_DEDUCTION_FAILED,
    INVALID_TENSOR_NAME,
    INVALID_VARIANT_PACK,
    GRAPH_NOT_SUPPORTED,
    GRAPH_EXECUTION_PLAN_CREATION_FAILED,
    GRAPH_EXECUTION_FAILED,
    HEURISTIC_QUERY_FAILED,
    UNSUPPORTED_GRAPH_FORMAT,
    CUDA_API_FAILED,
    CUDNN_BACKEND_API_FAILED,
    INVALID_CUDA_DEVICE,
    HANDLE_ERROR,
    INVALID_VALUE,
    NVRTC_COMPILATION_FAILED,
};

// Where in the graph an error was found; empty fields are unknown or do not apply.
struct error_location {
    std::string rule;    // id of the violated rule, as in docs/spec.md
    std::string node;    // name of the node
    std::string tensor;  // name of the tensor or port
};

// A code with a text. An empty error_t is success.
struct [[nodiscard]] SDPA_GRAPH_API error_object {
    error_code_t code = error_code_t::OK;
    std::string err_msg;
    error_location where;

    error_object();
    error_object(error_code_t error_code, std::string message);
    error_object(error_code_t error_code, std::string message, error_location location);
    error_object(error_object const&);
    error_object(error_object&&) noexcept;
    error_object& operator=(error_object const&);
    error_object& operator=(error_object&&) noexcept;
    ~error_object();

    error_code_t get_code() const { return code; }
    std::string get_message() const;
    bool is_good() const { return code == error_code_t::OK; }
    bool is_bad() const { return code != error_code_t::OK; }
    bool operator==(error_code_t other) const { return code == other; }
    bool operator!=(error_code_t other) const { return code != other; }
};

typedef error_object error_t;

SDPA_GRAPH_API char const* to_string(error_code_t code);
SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, error_code_t const& code);
SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, error_object const& error);

}  // namespace v1
}  // namespace cudnn_frontend
