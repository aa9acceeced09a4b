#include <cudnn_frontend/status.h>

#include <ostream>
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
