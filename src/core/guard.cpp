#include "core/guard.h"

#include <exception>
#include <new>
#include <string>

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
