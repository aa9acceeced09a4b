// The faults of an op graph, collected so that one error names all of them.
#pragma once

#include "core/findings.h"
#include "ir/op_graph.h"

#include <string>

namespace cudnn_frontend::ir {

// There is no rule to name: a fault is one of an expansion or a pass, not of the user's graph.
class Faults {
   public:
    explicit Faults(OpGraph const& graph) : graph_(graph) {}

    void at_value(ValueId id, std::string found, std::string needed);
    void at_op(std::size_t index, std::string found, std::string needed);

    error_t to_error() const { return findings_.to_error("The op graph is wrong:"); }

   private:
    OpGraph const& graph_;
    core::Findings findings_;
};

bool is_in_range(OpGraph const& graph, ValueId id);

// "%3 Q", or "%3" for a value without a name.
std::string label_of(OpGraph const& graph, ValueId id);

// Conditions on one operation alone: needed operands, and dims that fit each other.
void check_operands(OpGraph const& graph, std::size_t op_index, Faults& faults);

}  // namespace cudnn_frontend::ir
