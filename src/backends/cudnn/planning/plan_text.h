// A plan of cuDNN with everything that running it needs besides the graph.
#pragma once

#include "core/result.h"
#include "cudnn/library/engine_config.h"
#include "cudnn/library/lowered_graph.h"
#include "plan/packs/pack.h"
#include "plan/seam/backend.h"

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::cudnn {

struct CudnnStoredPlan {
    std::size_t cudnn_version = 0;
    EngineChoice choice;
    bool dynamic_shapes = false;
    std::string device;  // the description it was made for
    Bindings bindings;
    std::string engine_plan;  // cuDNN's own form
    std::string kernel = {};  // of this library's, behind the engine; empty where there is none
};

std::string write_plan(CudnnStoredPlan const& plan);
Result<CudnnStoredPlan> read_plan(std::string_view text);

// The names of the kernels in cuDNN's form of a plan, each once. Any text does no harm.
std::vector<std::string> kernels_in(std::string_view engine_plan);

// Compares a stored plan with the present library and GPU, then opens it.
Result<plan::Loaded> load_stored_plan(plan::PlanningInput const& input, std::string_view text,
                                      plan::CheckIndices check_indices);

}  // namespace cudnn_frontend::cudnn
