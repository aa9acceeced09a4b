#include "plan/pictures/plan_picture.h"

#include "nodes/schema/schema.h"
#include "rewrite/program.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

using rewrite::Place;

bool is_in_memory(nodes::TensorSpec const& tensor) { return !tensor.is_virtual && !tensor.value; }

// The tensors of the graph first, those without memory among them, then the pieces of scratch.
std::vector<Picture::PictureMemory> memories_of(rewrite::Program const* program, nodes::GraphSpec const& graph) {
    std::vector<Picture::PictureMemory> memories;
    for (nodes::TensorSpec const& tensor : graph.tensors) memories.push_back({tensor.name, false});
    std::size_t const pieces = program == nullptr ? 0 : program->scratch.size();
    for (std::size_t i = 0; i < pieces; ++i) {
        memories.push_back(
            {"scratch " + std::to_string(i) + ", " + std::to_string(program->scratch[i]) + " bytes", true});
    }
    return memories;
}

// The graph as given is one step, with the tensors that its nodes have in memory.
Picture::PictureStep whole_graph(nodes::GraphSpec const& graph) {
    Picture::PictureStep step{"the graph as given", {}};
    auto const add = [&](nodes::Direction direction) {
        std::vector<bool> is_known(graph.tensors.size());
        for (nodes::Node const& node : every_node(graph)) {
            nodes::for_each_port(node, direction, [&](nodes::PortRow const& row, nodes::TensorId id) {
                auto const index = static_cast<std::size_t>(id);
                nodes::TensorSpec const& tensor = graph.tensors[index];
                if (is_known[index] || !is_in_memory(tensor)) return;
                is_known[index] = true;
                rewrite::View const view{{}, tensor.data_type, tensor.dim, tensor.stride};
                step.operands.push_back({std::string(row.name) + ": " + rewrite::shape_of(view), index,
                                         direction == nodes::Direction::Output});
            });
        }
    };
    add(nodes::Direction::Input);
    add(nodes::Direction::Output);
    return step;
}

Picture::PictureStep picture_of(rewrite::Step const& step, nodes::GraphSpec const& graph) {
    Picture::PictureStep drawn{rewrite::heading_of(step), {}};
    for (rewrite::StepOperand const& operand : rewrite::operands_of(step)) {
        Place const& place = operand.view.place;
        bool const is_scratch = place.of == Place::Of::Scratch;
        drawn.operands.push_back(
            {operand.role + ": " + rewrite::shape_of(operand.view) + " at byte " + std::to_string(place.offset),
             place.index + (is_scratch ? graph.tensors.size() : 0), operand.is_written});
    }
    return drawn;
}

// Whether two steps differ in their offsets alone.
bool is_alike(rewrite::Step const& a, rewrite::Step const& b) {
    auto const x = rewrite::operands_of(a), y = rewrite::operands_of(b);
    return rewrite::heading_of(a) == rewrite::heading_of(b) &&
           std::ranges::equal(x, y, [](rewrite::StepOperand const& one, rewrite::StepOperand const& other) {
               Place const &p = one.view.place, &q = other.view.place;
               return one.role == other.role && p.of == q.of && p.index == q.index && one.view.dim == other.view.dim &&
                      one.view.stride == other.view.stride;
           });
}

std::vector<Picture::PictureStep> steps_of(rewrite::Program const& program, nodes::GraphSpec const& graph) {
    std::vector<Picture::PictureStep> steps;
    rewrite::Step const* last = nullptr;
    for (rewrite::Step const& step : program.steps) {
        if (last != nullptr && is_alike(*last, step)) ++steps.back().times;
        else steps.push_back(picture_of(step, graph));
        last = &step;
    }
    return steps;
}

}  // namespace

Picture picture_of(Plan const& plan, nodes::GraphSpec const& graph) {
    rewrite::Program const* const program = plan.info().program.get();
    return {plan.info().name + ", workspace of " + std::to_string(plan.workspace_size()) + " bytes",
            memories_of(program, graph),
            program == nullptr ? std::vector{whole_graph(graph)} : steps_of(*program, graph)};
}

std::string label_of(Picture const& picture, std::size_t step) {
    Picture::PictureStep const& drawn = picture.steps[step];
    std::string const label = std::to_string(step + 1) + ". " + drawn.heading;
    return drawn.times == 1 ? label : label + " (" + std::to_string(drawn.times) + " times, at other places)";
}

}  // namespace cudnn_frontend::plan
