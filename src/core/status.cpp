// Errors as objects, and the errors of exceptions.
#include <cudnn_frontend/status.h>

#include "core/guard.h"

#include <exception>
#include <new>
#include <ostream>
#include <string>
#include <utility>

namespace cudnn_frontend {

error_object::error_object() = default;
error_object::error_object(error_object const&) = default;
error_object::error_object(error_object&&) noexcept = default;
error_object& error_object::operator=(error_object const&) = default;
error_object& error_object::operator=(error_object&&) noexcept = default;
error_object::~error_object() = default;

error_object::error_object(error_code_t error_code, std::string message)
    : code(error_code), err_msg(std::move(message)) {}

error_object::error_object(error_code_t error_code, std::string message, error_location location)
    : code(error_code), err_msg(std::move(message)), where(std::move(location)) {}

std::string error_object::get_message() const { return err_msg; }

std::ostream& detail::print_error(std::ostream& stream, error_object const& error) {
    stream << error.code;
    if (!error.err_msg.empty()) stream << ": " << error.err_msg;
    return stream;
}

}  // namespace cudnn_frontend

namespace cudnn_frontend::core {

// The text is short enough for std::string to allocate nothing.
static error_t out_of_memory() noexcept { return {error_code_t::GRAPH_EXECUTION_FAILED, "out of memory"}; }

error_t error_of_exception() noexcept {
    try {
        try {
            throw;
        } catch (std::bad_alloc const&) {
            return out_of_memory();
        } catch (std::exception const& thrown) {
            return {error_code_t::GRAPH_EXECUTION_FAILED, std::string("unexpected failure: ") + thrown.what()};
        } catch (...) {
            return {error_code_t::GRAPH_EXECUTION_FAILED, "unexpected failure: an exception of unknown type"};
        }
    } catch (std::exception const&) {
        return out_of_memory();
    }
}

}  // namespace cudnn_frontend::core
