// Asks cuDNN which engines take a graph, best first.
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
    std::vector<BackendConfig> configs;  // without repetitions
    std::string reason;                  // what the engines said where a mode has none
};

Result<HeuristicsAnswer> ask_heuristics(Descriptor const& graph, HeuristicsRequest const& request);

}  // namespace cudnn_frontend::cudnn
