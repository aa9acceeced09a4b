#include "cudnn/library/engine_config.h"

#include "core/names.h"
#include "cudnn/library/api.h"
#include "cudnn/library/backend_enums.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

void add_reason(HeuristicsAnswer& answer, HeurMode_t mode, std::string const& text) {
    std::string const line = std::string("mode ") + core::name_of(mode) + ": " + (text.empty() ? "no engine" : text);
    answer.reason += (answer.reason.empty() ? "" : "\n") + line;
}

error_t add_config(HeuristicsAnswer& answer, Descriptor config) {
    auto value = describe(config);
    if (value.is_bad()) return value.error();
    bool const is_known = std::any_of(answer.configs.begin(), answer.configs.end(), [&](BackendConfig const& known) {
        return known.value.name == value.value().name;
    });
    if (!is_known) answer.configs.push_back({std::move(value).value(), std::move(config)});
    return {};
}

// Succeeds without a result if no engine supports the graph: the backend's last error says why.
error_t ask_mode(Descriptor const& graph, HeuristicsRequest const& request, HeurMode_t mode, HeuristicsAnswer& answer) {
    auto const backend_mode = to_backend(mode);
    if (!backend_mode) {
        add_reason(answer, mode, "cuDNN has no heuristics of this name; use A, with FALLBACK behind it");
        return {};
    }
    Descriptor heuristics(graph.api(), CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the heuristics query");
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph).set(CUDNN_ATTR_ENGINEHEUR_MODE, *backend_mode);
    if (request.device != nullptr) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, request.device->descriptor());
    if (request.sm_count > 0) heuristics.set(CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET, request.sm_count);
    static_cast<void>(last_error_text(graph.api()));  // clears it, so that later errors are from this query
    if (error_t const error = heuristics.finalize(); error.is_bad()) {
        add_reason(answer, mode, error.err_msg);
        return {};
    }
    auto configs =
        heuristics.read_parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "engine config");
    if (configs.is_bad()) return configs.error();
    if (configs.value().empty()) add_reason(answer, mode, last_error_text(graph.api()));
    for (Descriptor& config : configs.value()) SDPA_GRAPH_TRY(add_config(answer, std::move(config)));
    return {};
}

}  // namespace

Result<HeuristicsAnswer> ask_heuristics(Descriptor const& graph, HeuristicsRequest const& request) {
    HeuristicsAnswer answer;
    for (HeurMode_t const mode : request.modes) SDPA_GRAPH_TRY(ask_mode(graph, request, mode, answer));
    return answer;
}

}  // namespace cudnn_frontend::cudnn
