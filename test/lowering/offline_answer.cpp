#include "lowering/offline_answer.h"

#include "cudnn/library/engine_config.h"
#include "cudnn/library/engine_plan.h"
#include "cudnn/library/lowered_graph.h"
#include "cudnn/planning/lowering.h"

namespace sdpa_test {

using namespace cudnn_frontend;

std::string refusal_of(cudnn::Api const& api, OfflineQuestion const& question, cudnn::Device const& device) {
    quirks::Capabilities const here{.cudnn_version = api.get_version(), .sm = device.sm()};
    auto const op_graph = cudnn::op_graph_for_cudnn(question.graph, here, question.omitted_rewrite);
    if (op_graph.is_bad()) return op_graph.error().err_msg;
    auto const lowered = cudnn::lower(op_graph.value(), api, {.dynamic_shapes = question.settings.dynamic_shapes});
    if (lowered.is_bad()) return lowered.error().err_msg;
    auto answer = cudnn::ask_heuristics(lowered.value().graph, {{HeurMode_t::A, HeurMode_t::FALLBACK}, &device});
    if (answer.is_bad()) return answer.error().err_msg;
    std::string reasons = answer.value().reason.empty() ? "no engine" : answer.value().reason;
    if (!question.builds_plan && !answer.value().configs.empty()) return {};
    for (cudnn::BackendConfig& config : answer.value().configs) {
        auto const plan = cudnn::EnginePlan::build(std::move(config), &device, nullptr);
        auto const stored = plan.is_bad() ? Result<std::string>(plan.error()) : plan.value()->serialize();
        if (stored.is_good() && plan.value()->workspace_bytes() >= 0 && !stored.value().empty()) return {};
        reasons = stored.error().err_msg;
    }
    return reasons;
}

}  // namespace sdpa_test
