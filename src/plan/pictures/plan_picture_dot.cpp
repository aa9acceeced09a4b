// Boxes are steps, ellipses are tensors and, dashed, pieces of the workspace.
#include "core/text.h"
#include "plan/pictures/plan_picture.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

using core::escaped_for_dot;

std::string memory_name(std::size_t index) { return "memory_" + std::to_string(index); }
std::string step_name(std::size_t index) { return "step_" + std::to_string(index); }

bool is_used(Picture const& picture, std::size_t memory) {
    return std::ranges::any_of(picture.steps, [&](Picture::PictureStep const& step) {
        return std::ranges::find(step.operands, memory, &Picture::PictureOperand::memory) != step.operands.end();
    });
}

std::string edges_of(Picture::PictureStep const& step, std::size_t index) {
    std::string text;
    for (Picture::PictureOperand const& operand : step.operands) {
        std::string const memory = memory_name(operand.memory), box = step_name(index);
        std::string const& from = operand.is_written ? box : memory;
        std::string const& to = operand.is_written ? memory : box;
        text += core::text("  ", from, " -> ", to, " [label=\"", escaped_for_dot(operand.text), "\"];\n");
    }
    return text;
}

}  // namespace

std::string to_dot(Picture const& picture) {
    std::string text = "digraph plan {\n  label=\"" + escaped_for_dot(picture.title) +
                       "\";\n  labelloc=t;\n  node [fontname=\"Helvetica\"];\n";
    for (std::size_t i = 0; i < picture.memories.size(); ++i) {
        if (!is_used(picture, i)) continue;
        text += "  " + memory_name(i) + " [shape=ellipse, label=\"" + escaped_for_dot(picture.memories[i].name) + "\"" +
                (picture.memories[i].is_scratch ? ", style=dashed];\n" : "];\n");
    }
    for (std::size_t i = 0; i < picture.steps.size(); ++i) {
        text += "  " + step_name(i) + " [shape=box, label=\"" + escaped_for_dot(label_of(picture, i)) + "\"];\n";
        if (i > 0) text += "  " + step_name(i - 1) + " -> " + step_name(i) + " [style=dotted, label=\"then\"];\n";
        text += edges_of(picture.steps[i], i);
    }
    return text + "}\n";
}

}  // namespace cudnn_frontend::plan
