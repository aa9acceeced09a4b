#include <cudnn_frontend/stored_plan.h>

#include "core/guard.h"
#include "core/text.h"
#include "plan/storage/plan_container.h"

#include <utility>

namespace cudnn_frontend {

std::string Stored_plan::to_text() const {
    std::string text = "plan " + name + "\n  target " + to_string(target);
    if (!device.empty()) text += ", for " + device;
    if (cudnn_version > 0) text += "\n  cuDNN " + core::version_text(cudnn_version);
    text += "\n  workspace of " + std::to_string(workspace_bytes) + " bytes\n";
    for (std::string const& kernel : kernels) text += "  kernel " + kernel + "\n";
    return text;
}

error_t read_stored_plan(std::vector<std::uint8_t> const& bytes, Stored_plan& plan) noexcept {
    return core::guarded([&]() -> error_t {
        auto read = plan::read_container(bytes);
        if (read.is_bad()) return read.error();
        plan::PlanContainer container = std::move(read).value();
        plan = {.target = container.target,
                .device = std::move(container.facts.device),
                .cudnn_version = static_cast<std::size_t>(container.facts.library_version),
                .name = std::move(container.plan.engine),
                .workspace_bytes = container.workspace_bytes,
                .kernels = std::move(container.facts.kernels),
                .graph = std::move(container.graph_json)};
        return {};
    });
}

}  // namespace cudnn_frontend
