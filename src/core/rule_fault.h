// Errors of the rules on runs in docs/spec.md, with the rule's id both in the text and as a member.
#pragma once

#include <cudnn_frontend/status.h>

#include <string>
#include <utility>

namespace cudnn_frontend::core {

inline error_t rule_fault(error_code_t code, char const* rule, std::string const& tensor, std::string const& text) {
    return {code, std::string("[") + rule + "] " + text, {rule, "", tensor}};
}

// Collects several faults in one error: the code and place of the first, a line for each.
inline void add_fault(error_t& all, error_t fault) {
    if (all.is_good()) all = std::move(fault);
    else all.err_msg += "\n" + fault.err_msg;
}

}  // namespace cudnn_frontend::core
