// Errors of the rules on runs in docs/spec.md: the id stands in the text and beside it.
#pragma once

#include <cudnn_frontend/status.h>

#include <string>
#include <utility>

namespace cudnn_frontend::core {

inline error_t rule_fault(error_code_t code, char const* rule, std::string const& tensor, std::string const& text) {
    return {code, std::string("[") + rule + "] " + text, {rule, "", tensor}};
}

// Several faults are one error, that of the first, with a line for each.
inline void add_fault(error_t& all, error_t fault) {
    if (all.is_good()) all = std::move(fault);
    else all.err_msg += "\n" + fault.err_msg;
}

}  // namespace cudnn_frontend::core
