// A score modifier (ir::ScoreRegion) as CUDA C++ for the attention kernels, which are compiled with it.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"

#include <string>
#include <vector>

namespace cudnn_frontend::kernels {

struct ScoreCode {
    // Defines modified_score(), modified_gradient() and kChangesGradients. Numbers and sizes are no part of it, so that
    // graphs that differ in them alone have one text.
    std::string text;
    // The same functions of bounds (device/attention/score_bounds.cuh); empty where the modifier neither hides nor
    // leaves scores.
    std::string text_of_bounds;
    bool hides_scores = false;     // whether it may hide scores
    bool scatters_hidden = false;  // whether bounds say little of which scores it hides
    bool leaves_scores = false;    // whether it may leave all scores of a block, and their gradients, as they are
    bool hides_by_batch = false, hides_by_head = false;  // whether it may hide other blocks in each
    std::vector<ir::ValueId> tensors;                    // what it reads for each score, by number
    std::vector<ir::ValueId> numbers;                    // what is one number for all scores
};

// An error with the reason where a function or a type has no form in the kernels, or there are too many values.
Result<ScoreCode> score_code(ir::OpGraph const& graph, ir::ScoreRegion const& region);

}  // namespace cudnn_frontend::kernels
