// A value, or an error in its place.
#pragma once

#include <cudnn_frontend/status.h>

#include <utility>
#include <variant>

namespace cudnn_frontend {

template <class T>
class [[nodiscard]] Result {
   public:
    Result(T value) : content_(std::move(value)) {}
    Result(error_t error) : content_(std::move(error)) {}

    bool is_good() const { return std::holds_alternative<T>(content_); }
    bool is_bad() const { return !is_good(); }
    T& value() & { return std::get<T>(content_); }
    T const& value() const& { return std::get<T>(content_); }
    T&& value() && { return std::get<T>(std::move(content_)); }
    // Leaves `place` unchanged if there is no value.
    error_t move_to(T& place) && {
        if (is_good()) place = std::get<T>(std::move(content_));
        return error();
    }
    error_t error() const { return is_good() ? error_t() : std::get<error_t>(content_); }

   private:
    std::variant<T, error_t> content_;
};

// Returns the error of an expression of type error_t from the enclosing function.
#define SDPA_GRAPH_TRY(expression)                                                \
    do {                                                                          \
        if (::cudnn_frontend::error_t status_ = (expression); status_.is_bad()) { \
            return status_;                                                       \
        }                                                                         \
    } while (false)

}  // namespace cudnn_frontend
