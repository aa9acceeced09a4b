#include "pipeline/plan.h"

#include "core/rule_fault.h"

namespace cudnn_frontend::pipeline {

// What every target may assume of a workspace: allocators give more.
static constexpr std::uintptr_t kWorkspaceAlignment = 16;

error_t check_workspace(Plan const& plan, Run const& run) {
    std::int64_t const needed = plan.workspace_size();
    if (needed == 0) return {};
    auto const invalid = [&](std::string const& found) {
        return core::rule_fault(error_code_t::INVALID_VARIANT_PACK, "run.r09", "",
                                "the workspace " + found + "; the plan needs " + std::to_string(needed) +
                                    " bytes, which get_workspace_size() tells, at a multiple of " +
                                    std::to_string(kWorkspaceAlignment) + " bytes");
    };
    if (run.workspace_bytes >= 0 && run.workspace_bytes < needed) {
        return invalid("has " + std::to_string(run.workspace_bytes) + " bytes");
    }
    if (run.workspace == nullptr) return invalid("is null");
    if (reinterpret_cast<std::uintptr_t>(run.workspace) % kWorkspaceAlignment != 0) return invalid("is not aligned");
    return {};
}

}  // namespace cudnn_frontend::pipeline
