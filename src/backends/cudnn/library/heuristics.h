// The heuristics query: which engines support a graph, best first.
#pragma once

#include "cudnn/library/engine_config.h"

#include <string>
#include <vector>

namespace cudnn_frontend::cudnn {

struct HeuristicsRequest {
    std::vector<HeurMode_t> modes;
    Device const* device = nullptr;  // null: the current device
    std::int32_t sm_count = 0;       // plan for that many multiprocessors; 0: all
};

struct HeuristicsAnswer {
    std::vector<BackendConfig> configs;  // without duplicates
    std::string reason;                  // the engines' errors, for a mode without a result
};

Result<HeuristicsAnswer> ask_heuristics(Descriptor const& graph, HeuristicsRequest const& request);

}  // namespace cudnn_frontend::cudnn
