// The output of Graph::serialize() for a built graph: the graph, the target, and the plan in its backend's form.
#pragma once

#include "core/result.h"
#include "plan/seam/backend.h"

#include <cudnn_frontend/target.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend::plan {

struct PlanContainer {
    Target::Kind target = Target::Kind::CPU;
    std::string graph_json;
    Stored plan;
    std::int64_t workspace_bytes = 0;
    ExecutableFacts facts = {};
};

std::vector<std::uint8_t> write_container(PlanContainer const& container);
Result<PlanContainer> read_container(std::vector<std::uint8_t> const& bytes);

}  // namespace cudnn_frontend::plan
