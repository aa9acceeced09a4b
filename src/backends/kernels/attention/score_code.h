// A score modifier (ir::ScoreRegion) as CUDA C++ for the attention kernels, which are compiled with it.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"
#include "kernels/attention/attention_problem.h"

#include <vector>

namespace cudnn_frontend::kernels {

struct ScoreCode {
    ModifierCode modifier;
    std::vector<ir::ValueId> tensors;  // what it reads for each score, by number
    std::vector<ir::ValueId> numbers;  // what is one number for all scores
};

// An error with the reason where a function or a type has no form in the kernels, or there are too many values.
Result<ScoreCode> score_code(ir::OpGraph const& graph, ir::ScoreRegion const& region);

}  // namespace cudnn_frontend::kernels
