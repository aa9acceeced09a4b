// Programs as text for people, and what text and pictures of them need.
#pragma once

#include "rewrite/program.h"

namespace cudnn_frontend::rewrite {

// An attention's in the order of its ports, those of other steps as they are declared.
std::vector<StepOperand> operands_of(Step const& step);

// The operation of a step and its options, without its operands: "attention right_bound=0".
std::string heading_of(Step const& step);

// "K + 4096" or "scratch 1"; tensors have the names of the program's graph.
std::string name_of(Place const& place, nodes::GraphSpec const& graph);

// "[1, 8, 16, 64] HALF", and what is unusual: strides that are not packed, an address that is aligned to less.
std::string shape_of(View const& view);

// A line for each piece of scratch, and a paragraph for each step.
std::string to_text(Program const& program, nodes::GraphSpec const& graph);

}  // namespace cudnn_frontend::rewrite
