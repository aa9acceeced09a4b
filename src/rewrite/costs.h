// The expected costs of the steps of programs on a target, by which programs are chosen.
#pragma once

#include "rewrite/program.h"

#include <optional>

namespace cudnn_frontend::rewrite {

// Costs in microseconds; nothing for steps that others run, and where nothing is known.
class Costs {
   public:
    virtual ~Costs() = default;

    virtual std::optional<double> of(nodes::ValidatedGraph const& graph) const = 0;
    virtual std::optional<double> of(Joint const& joint) const = 0;
};

// The sum over all steps; nothing where one is not known.
std::optional<double> cost_of(Program const& program, Costs const& costs);

// The bytes that a joint reads and writes.
double bytes_moved(Joint const& joint);

}  // namespace cudnn_frontend::rewrite
