// A plan as a picture: its steps, and the memory that they read and write.
#pragma once

#include "plan/plan.h"

#include <string>
#include <vector>

namespace cudnn_frontend::plan {

struct Picture {
    struct PictureMemory {
        std::string name;
        bool is_scratch;  // of the plan's workspace
    };
    struct PictureOperand {
        std::string text;  // role, place and shape
        std::size_t memory;
        bool is_written;
    };
    struct PictureStep {
        std::string heading;
        std::vector<PictureOperand> operands;
        std::size_t times = 1;  // in a row, at other places of the same memory
    };

    std::string title;
    std::vector<PictureMemory> memories;
    std::vector<PictureStep> steps;
};

// `graph` is the graph that was planned: its tensors give the names.
Picture picture_of(Plan const& plan, nodes::GraphSpec const& graph);

// A step's number, heading and how often it runs.
std::string label_of(Picture const& picture, std::size_t step);

std::string to_dot(Picture const& picture);  // for Graphviz
std::string to_svg(Picture const& picture);

}  // namespace cudnn_frontend::plan
