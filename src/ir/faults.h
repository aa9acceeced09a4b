// The faults of an op graph, collected so that one error names all of them.
#pragma once

#include "ir/op_graph.h"

#include <string>
#include <vector>

namespace cudnn_frontend::ir {

class Faults {
   public:
    explicit Faults(OpGraph const& graph) : graph_(graph) {}

    void at_value(ValueId id, std::string const& text);
    void at_op(std::size_t index, std::string const& text);

    error_t to_error() const;

   private:
    OpGraph const& graph_;
    std::vector<std::string> texts_;
    error_location first_;
};

bool is_in_range(OpGraph const& graph, ValueId id);

// "%3 Q", or "%3" for a value without a name.
std::string label_of(OpGraph const& graph, ValueId id);

// Conditions on one operation alone: needed operands, and dims that fit each other.
void check_operands(OpGraph const& graph, std::size_t op_index, Faults& faults);

}  // namespace cudnn_frontend::ir
